import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { JsonLimits } from '../../platform/http-server/request-body/json-limits.js';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { BYTE_ORDER_MARK, MAX_RESPONSE_DEPTH } from '../http/response-body.js';
import { carriesError } from '../http/error-facts.js';
import { figuresOfBody } from '../http/figures.js';
import type { AttemptOwner } from '../ports/attempt.js';
import type { ChatEvent } from '../ports/chat.port.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';

/** Twice the longest response of any model; fifty tokens with 20 alternatives each. Parsing that takes at most 20 ms. */
const EVENT_LIMITS: EventLimits = { chars: 1.25 * 1024 * 1024, values: 10_000 };
/** A shorter event cannot exceed the limits; most are a few hundred characters long. */
const SMALL_CHARS = 4_096;
/** Some vendors put white space around `[DONE]`. */
const MAX_DONE_CHARS = 16;
/**
 * After the last finish reason only the usage is missing, and the stream waits for it no longer than this (decision
 * G-24).
 */
const USAGE_WAIT_MS = 5_000;
/**
 * For a slow client nothing is read ahead except the rest of one socket read: a chunk can have 60 kB, with its
 * `logprobs`.
 */
const READ_AHEAD_CHUNKS = 0;

/** What may follow an event: more of the answer, at most its usage, or nothing. */
export type WhatFollows = 'more' | 'usage' | 'nothing';

/** Most characters and JSON values of an event. One beyond them breaks the stream. */
export type EventLimits = Readonly<Record<'chars' | 'values', number>>;

/** Reads the events of one vendor's protocol. There is one for each stream. */
export interface ChatEventReader {
  /**
   * Reads the next event, which is a JSON object and no error. Returns what is forwarded, null where nothing is. Throws
   * `UnusableAnswer` for an event that breaks the stream.
   */
  read(event: JsonObject): ChatEvent | null;
  /** What is still to be forwarded at the end of a whole answer, such as a finish reason that the vendor left out. */
  rest?(): ChatEvent | null;
  /** The error that an event of the protocol is, where its shape does not say so (`carriesError`). */
  errorIn?(event: JsonObject): unknown;
  /** The whole answer in an event, which has the vendor's own cost figures; undefined where the event has them itself. */
  answerIn?(event: JsonObject): JsonObject | undefined;
  /** Whether the answer has begun. An end before is an empty answer, which is a failure. */
  readonly hasBegun: boolean;
  /** Whether the answer is complete, with the finish reason or the last event of the protocol. Faults after it are ignored. */
  readonly isWhole: boolean;
  /** What follows the event that was read last. At `usage` the stream waits for it for 5 s from then. */
  readonly follows: WhatFollows;
  /** Where events of the protocol are long. */
  readonly limits?: EventLimits;
}

/**
 * Creates the error of a broken stream, from the event that explains it if there is one, and closes the upstream
 * connection.
 */
export type StreamFault = (code: string, event?: unknown) => Error;

/**
 * Parses the server-sent events of an upstream body into an object stream of {@link ChatEvent}. The answer is complete
 * at `[DONE]`, or when the reader of the protocol says so; then the stream ends at the usage, or 5 s later, whatever the
 * connection does (decision G-24). Before that it fails when the body ends, at an error event, at anything that is not a
 * JSON object, and at a `[DONE]` before the answer has begun: that is no response, whatever usage is reported.
 */
export class ChatEventStream extends Readable {
  private readonly parser: EventSourceParser;
  private hasText = false;
  private done = false;
  private wait: NodeJS.Timeout | undefined;

  constructor(
    private readonly source: Readable,
    private readonly reader: ChatEventReader,
    private readonly fault: StreamFault,
    private readonly usageWaitMs = USAGE_WAIT_MS,
    private readonly owner?: Pick<AttemptOwner, 'onFigures'>,
  ) {
    super({ objectMode: true, highWaterMark: READ_AHEAD_CHUNKS });
    this.parser = createParser({
      maxBufferSize: (reader.limits ?? EVENT_LIMITS).chars,
      onEvent: ({ data, event }) => {
        this.takeEvent(data, event);
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.breakOff('event_too_long');
      },
    });
    const decoder = new StringDecoder('utf8');
    source.on('data', (bytes: Buffer) => {
      if (!this.done && !this.destroyed) this.feed(decoder.write(bytes));
    });
    source.on('end', () => {
      // The line break after the last event may be missing.
      if (!this.done && !this.destroyed) this.parser.feed('\n\n');
      if (!this.done && !this.destroyed) this.breakOff('stream_cut');
    });
    source.on('error', (error) => {
      if (this.done) return;
      if (this.reader.isWhole) this.finish();
      else this.destroy(error);
    });
    source.on('close', () => {
      clearTimeout(this.wait);
    });
  }

  /** Drops a byte order mark, which the parser would treat as part of the first field. */
  private feed(text: string): void {
    if (text === '') return;
    const isMarked = !this.hasText && text.startsWith(BYTE_ORDER_MARK);
    this.hasText = true;
    this.parser.feed(isMarked ? text.slice(BYTE_ORDER_MARK.length) : text);
  }

  /** Resolves when the first event has arrived. Rejects with the error that broke the stream before it. */
  firstEvent(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        this.off('readable', settle).off('error', settle);
        if (error) reject(error);
        else resolve();
      };
      this.on('readable', settle).on('error', settle);
    });
  }

  override _read(): void {
    this.source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // The rest after the end is read and dropped, so that the connection can be used again.
    if (!this.done) {
      clearTimeout(this.wait);
      this.source.destroy();
    }
    done(error);
  }

  private takeEvent(data: string, name: string | undefined): void {
    if (this.done || this.destroyed) return;
    if (isDone(data)) this.takeDone();
    else this.takeJson(parsed(data, this.reader.limits), name === 'error');
  }

  private takeDone(): void {
    if (this.reader.hasBegun) this.finish();
    else this.destroy(this.fault('empty_stream'));
  }

  private takeJson(event: unknown, isError: boolean): void {
    if (isError || carriesError(event)) this.breakOff('error_event', asError(event));
    else if (!isJsonObject(event)) this.breakOff('bad_chunk');
    else {
      const error = this.reader.errorIn?.(event);
      if (error === undefined) this.takeObject(event);
      else this.breakOff('error_event', asError(error));
    }
  }

  private takeObject(event: JsonObject): void {
    const item = this.readEvent(event);
    if (item === undefined) return;
    const figures = figuresOfBody(this.reader.answerIn?.(event) ?? event);
    if (figures) this.owner?.onFigures?.(figures);
    if (item !== null && (!this.push(item) || this.isPaused())) this.source.pause();
    const { follows } = this.reader;
    if (follows === 'nothing') this.finish();
    else if (follows === 'usage') this.startWait();
  }

  /** Undefined where the event broke the stream. */
  private readEvent(event: JsonObject): ChatEvent | null | undefined {
    try {
      return this.reader.read(event);
    } catch (error) {
      if (error instanceof UnusableAnswer) this.breakOff(error.code);
      else this.destroy(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }

  /** Errors after a complete response are ignored. */
  private breakOff(code: string, event?: unknown): void {
    if (!this.reader.isWhole) {
      this.destroy(this.fault(code, event));
      return;
    }
    this.finish();
    this.source.destroy();
  }

  private finish(): void {
    this.done = true;
    const rest = this.reader.rest?.() ?? null;
    if (rest !== null) this.push(rest);
    this.push(null);
    this.source.resume();
    this.startWait();
  }

  /**
   * Starts the wait for the usage. After it the stream ends if it has not ended yet, and the connection is closed if
   * the provider has not ended the response.
   */
  private startWait(): void {
    if (this.source.closed) return;
    this.wait ??= setTimeout(() => {
      // Chunks that the client has not read yet may contain the usage.
      if (!this.done && this.source.isPaused()) {
        this.wait?.refresh();
        return;
      }
      if (!this.done) this.finish();
      this.source.destroy();
    }, this.usageWaitMs).unref();
    this.wait.refresh();
  }
}

/** An event named `error` is an error, whatever its shape. */
function asError(event: unknown): unknown {
  return carriesError(event) ? event : { error: event };
}

function isDone(data: string): boolean {
  return data.length <= MAX_DONE_CHARS && data.trim() === '[DONE]';
}

/**
 * Undefined for text that is not JSON or exceeds the limits: a megabyte of empty objects would block the process for a
 * second.
 */
function parsed(data: string, { values } = EVENT_LIMITS): unknown {
  try {
    if (data.length > SMALL_CHARS) {
      new JsonLimits({ depth: MAX_RESPONSE_DEPTH, values }).add(Buffer.from(data));
    }
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

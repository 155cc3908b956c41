import { JsonStructure } from '../../common/http/bodies/json-structure.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { MAX_ANSWER_DEPTH } from '../http/answer-json.js';
import { type ChatChunk, MAX_CHOICES } from '../ports/chat.port.js';
import { carriesError } from '../http/error-facts.js';
import { figuresOfBody } from '../http/figures.js';
import { listAt } from '../http/json-fields.js';
import type { OnFigures } from '../ports/attempt-context.js';
import { ChoiceEnds } from './choice-ends.js';
import { usageOf } from './openai-usage.js';

/** The longest event that is read: twice the longest answer of any model. A longer one breaks the stream. */
const MAX_EVENT_CHARS = 1.25 * 1024 * 1024;
/** Fifty tokens, each with the 20 likeliest others. No event of this size takes more than 20 ms of the process. */
const EVENT_BOUNDS = { depth: MAX_ANSWER_DEPTH, values: 10_000 };
/** A shorter event holds too little to matter; most are a few hundred characters long. */
const SMALL_CHARS = 4_096;
/** Some vendors write blanks around it. */
const MAX_DONE_CHARS = 16;
const BYTE_ORDER_MARK = '\uFEFF';
/** After the last reason to end only the usage is missing, which is waited for no longer than this (decision G-24). */
const USAGE_WAIT_MS = 5_000;
/** Nothing is read ahead of a slow client but the rest of a read: a chunk can have 60 kB, with its `logprobs`. */
const READ_AHEAD_CHUNKS = 0;

/** Creates the error of a broken stream, from the event that says why if there is one, and closes the upstream connection. */
export type StreamFault = (code: string, event?: unknown) => Error;

/**
 * Parses the server-sent events of an upstream body into an object stream of {@link ChatChunk}. The answer is whole at
 * `[DONE]`, or once every choice has its reason to end; then the stream ends at the usage, or 5 s later, whatever the
 * connection does (decision G-24). Before that it breaks when the body ends, at an error event, at anything that is not
 * a JSON object, and at a `[DONE]` before which no chunk had a choice: that is no answer, whatever usage is reported.
 */
export class OpenAiChatStream extends Readable {
  private readonly parser: EventSourceParser;
  private readonly choices = new ChoiceEnds();
  private hasText = false;
  private done = false;
  private wait: NodeJS.Timeout | undefined;

  constructor(
    private readonly source: Readable,
    private readonly fault: StreamFault,
    private readonly usageWaitMs = USAGE_WAIT_MS,
    private readonly onFigures?: OnFigures,
  ) {
    super({ objectMode: true, highWaterMark: READ_AHEAD_CHUNKS });
    this.parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
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
      // The end of the last line may be missing.
      if (!this.done && !this.destroyed) this.parser.feed('\n\n');
      if (!this.done && !this.destroyed) this.breakOff('stream_cut');
    });
    source.on('error', (error) => {
      if (this.done) return;
      if (this.choices.haveEnded) this.finish();
      else this.destroy(error);
    });
    source.on('close', () => {
      clearTimeout(this.wait);
    });
  }

  /** Drops a byte order mark, which the parser would take for a part of the first field. */
  private feed(text: string): void {
    if (text === '') return;
    const isMarked = !this.hasText && text.startsWith(BYTE_ORDER_MARK);
    this.hasText = true;
    this.parser.feed(isMarked ? text.slice(BYTE_ORDER_MARK.length) : text);
  }

  /** Resolves when the first chunk with a choice has arrived. Rejects with the error that broke the stream before it. */
  firstChunk(): Promise<void> {
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
    else this.takeChunk(parsed(data), name === 'error');
  }

  private takeDone(): void {
    if (this.choices.haveBegun) this.finish();
    else this.destroy(this.fault('empty_stream'));
  }

  private takeChunk(chunk: unknown, isError: boolean): void {
    if (isError || carriesError(chunk)) this.breakOff('error_event', asError(chunk));
    else if (!isJsonObject(chunk)) this.breakOff('bad_chunk');
    else {
      const choices = listAt(chunk, 'choices') ?? [];
      if (choices.length > MAX_CHOICES) this.breakOff('bad_chunk');
      else this.takeChoices(chunk, choices);
    }
  }

  private takeChoices(chunk: JsonObject, choices: readonly JsonObject[]): void {
    const item: ChatChunk = { chunk, usage: usageOf(chunk) };
    const figures = figuresOfBody(chunk);
    if (figures) this.onFigures?.(figures);
    const says = this.choices.take(choices);
    // What comes before the first choice is neither shown nor a report of what was made.
    if (choices.length === 0 && (item.usage === null || !this.choices.haveBegun)) return;
    if (!this.push(item) || this.isPaused()) this.source.pause();
    if (!this.choices.haveEnded) return;
    if (choices.length === 0) this.finish();
    else if (says) this.startWait();
  }

  /** What follows a whole answer cannot break it any more. */
  private breakOff(code: string, event?: unknown): void {
    if (!this.choices.haveEnded) {
      this.destroy(this.fault(code, event));
      return;
    }
    this.finish();
    this.source.destroy();
  }

  private finish(): void {
    this.done = true;
    this.push(null);
    this.source.resume();
    this.startWait();
  }

  /** Afterwards the stream ends if it has not yet, and the connection is closed if its provider has not ended the answer. */
  private startWait(): void {
    if (this.source.closed) return;
    this.wait ??= setTimeout(() => {
      // What the reader has not taken may contain the usage.
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

/** An event that is named `error` is one in whatever shape. */
function asError(event: unknown): unknown {
  return carriesError(event) ? event : { error: event };
}

function isDone(data: string): boolean {
  return data.length <= MAX_DONE_CHARS && data.trim() === '[DONE]';
}

/** Undefined for what is no JSON, or too much: a megabyte of empty objects would stop the process for a second. */
function parsed(data: string): unknown {
  try {
    if (data.length > SMALL_CHARS) new JsonStructure(EVENT_BOUNDS).add(Buffer.from(data));
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

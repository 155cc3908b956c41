import { JsonStructure } from '../../common/http/bodies/json-structure.js';
import { isJsonObject } from '../../common/json-object.js';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { ProviderErrorKind } from '../http/provider-error.js';
import { MAX_ANSWER_DEPTH } from '../http/answer-json.js';
import { type ChatChunk, MAX_COMPLETION_BYTES, MAX_COMPLETION_VALUES } from '../ports/chat.port.js';
import { classifyOpenAiError } from '../http/openai-error.js';
import { listAt } from '../http/json-fields.js';
import { readUnread, type UnreadBody } from '../ports/unread-body.js';
import { usageOf } from './openai-usage.js';

/** The longest event that is read. A longer one breaks the stream. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;
/** As many for each character as a whole answer may have for each byte. */
const EVENT_BOUNDS = {
  depth: MAX_ANSWER_DEPTH,
  values: (MAX_COMPLETION_VALUES * MAX_EVENT_CHARS) / MAX_COMPLETION_BYTES,
};
/** A shorter event holds too little to matter; most are a few hundred characters long. */
const SMALL_CHARS = 4_096;
const BYTE_ORDER_MARK = '\uFEFF';
/** Nothing is read ahead of a slow client but the rest of a read: a chunk can have 60 kB, with its `logprobs`. */
const READ_AHEAD_CHUNKS = 0;

/** Creates the error of a broken stream and closes the upstream connection. */
export type StreamFault = (code: string, kind?: ProviderErrorKind) => Error;

/**
 * Parses the server-sent events of an upstream body into an object stream of {@link ChatChunk}. The stream ends only at
 * `[DONE]`. It breaks when the body ends before that, at an error event, at anything that is not a JSON object, and at a
 * `[DONE]` before which no chunk had a choice: that is no answer, whatever usage is reported.
 */
export class OpenAiChatStream extends Readable implements UnreadBody {
  private readonly parser: EventSourceParser;
  private hasText = false;
  private hasChoice = false;
  private done = false;

  constructor(
    private readonly source: Readable,
    private readonly fault: StreamFault,
  ) {
    super({ objectMode: true, highWaterMark: READ_AHEAD_CHUNKS });
    this.parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: ({ data, event }) => {
        this.takeEvent(data, event);
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.destroy(this.fault('event_too_long'));
      },
    });
    const decoder = new StringDecoder('utf8');
    source.on('data', (bytes: Buffer) => {
      if (!this.done && !this.destroyed) this.feed(decoder.write(bytes));
    });
    source.on('end', () => {
      // The end of the last line may be missing.
      if (!this.done && !this.destroyed) this.parser.feed('\n\n');
      if (!this.done) this.destroy(this.fault('stream_cut'));
    });
    source.on('error', (error) => {
      if (!this.done) this.destroy(error);
    });
  }

  /** Drops a byte order mark, which the parser would take for a part of the first field. */
  private feed(text: string): void {
    if (text === '') return;
    const isMarked = !this.hasText && text.startsWith(BYTE_ORDER_MARK);
    this.hasText = true;
    this.parser.feed(isMarked ? text.slice(BYTE_ORDER_MARK.length) : text);
  }

  /** Resolves when the first chunk has arrived. Rejects with the error that broke the stream before it. */
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

  readUnread(accountId: string): void {
    readUnread(this.source, accountId);
  }

  override _read(): void {
    this.source.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // The rest after `[DONE]` is read and dropped, so that the connection can be used again.
    if (!this.done) this.source.destroy();
    done(error);
  }

  private takeEvent(data: string, name: string | undefined): void {
    if (this.done || this.destroyed) return;
    if (data === '[DONE]') this.finish();
    else this.takeChunk(parsed(data), name === 'error');
  }

  private finish(): void {
    if (!this.hasChoice) {
      this.destroy(this.fault('empty_stream'));
      return;
    }
    this.done = true;
    this.push(null);
  }

  private takeChunk(chunk: unknown, isError: boolean): void {
    if (!isJsonObject(chunk)) {
      this.destroy(this.fault('bad_chunk'));
    } else if (isError || Boolean(chunk.error)) {
      const { code, kind } = classifyOpenAiError(200, chunk);
      this.destroy(this.fault(code ?? 'error_event', kind));
    } else {
      this.hasChoice ||= (listAt(chunk, 'choices')?.length ?? 0) > 0;
      const item: ChatChunk = { chunk, usage: usageOf(chunk) };
      if (!this.push(item) || this.isPaused()) this.source.pause();
    }
  }
}

/** Undefined for what is no JSON, or too much: a few megabytes of empty objects would stop the process for a second. */
function parsed(data: string): unknown {
  try {
    if (data.length > SMALL_CHARS) new JsonStructure(EVENT_BOUNDS).add(Buffer.from(data));
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

import type { JsonObject } from '../common/json-object.js';
import type { Readable } from 'node:stream';
import type { SseWriter } from '../common/http/sse-writer.js';
import { ClientLeft } from '../executions/pay-on-success.js';
import type { ChatChunk, TokenUsage } from '../providers/ports/chat.port.js';
import { type CompletionHead, choicesOf, chunkOf, headOf } from './chat-answer.js';
import { textsOf, viewTokenUsage } from './chat-usage.js';
import type { RelayPace } from './relay-pace.js';

/** Characters of an event that waits for its turn. A token with its `logprobs` has a few hundred. */
const LARGE_EVENT_CHARS = 16_384;

/** Forwards the chunks of one stream to its reader and remembers what they cost. */
export class ChatRelay {
  /** The texts so far. They are counted if the provider reports no usage. */
  readonly made: string[] = [];
  /** The last usage that the provider reported; null if more text came after it. */
  usage: TokenUsage | null = null;
  /** Whether the model has said why it ended. Afterwards only the usage follows. */
  isFinished = false;
  private reportedUsage: unknown;
  private source: Readable | undefined;
  private head: CompletionHead | undefined;

  constructor(
    private readonly events: Pick<SseWriter, 'send'>,
    private readonly pace: RelayPace,
    private readonly fallback: CompletionHead,
    private readonly showsUsage: boolean,
  ) {}

  /**
   * Forwards chunks until the provider has finished or the reader has left. Throws the error that broke the stream;
   * that the reader left is no error.
   */
  async run(source: Readable): Promise<void> {
    this.source = source;
    try {
      for await (const item of source as AsyncIterable<ChatChunk>) {
        this.take(item);
        const choices = choicesOf(item.chunk);
        if (choices.length > 0) await this.send(item.chunk, choices);
      }
    } catch (error) {
      // The error decides, not the state of the reader's socket, because the first event counts.
      if (!(error instanceof ClientLeft)) throw error;
    }
  }

  /** Adds what has arrived but was not forwarded, because the provider made it all the same. */
  takeWaiting(): void {
    for (;;) {
      const item = this.source?.read() as ChatChunk | null | undefined;
      if (!item) return;
      this.take(item);
    }
  }

  /** Sends the usage in a chunk of its own to a reader that requested it (decision G-93). */
  async end(usage: TokenUsage): Promise<void> {
    if (!this.showsUsage || this.head === undefined) return;
    const chunk = { ...chunkOf(this.head, []), usage: viewTokenUsage(usage, this.reportedUsage) };
    await this.events.send(JSON.stringify(chunk));
  }

  private take({ chunk, usage }: ChatChunk): void {
    for (const { delta, finish_reason: reason } of choicesOf(chunk)) {
      if (typeof reason === 'string') this.isFinished = true;
      const texts = textsOf(delta);
      if (texts.length === 0) continue;
      this.made.push(...texts);
      this.usage = null;
    }
    if (usage) {
      this.usage = usage;
      this.reportedUsage = chunk.usage;
    }
  }

  private async send(chunk: JsonObject, choices: readonly JsonObject[]): Promise<void> {
    this.head ??= headOf(chunk, this.fallback);
    const shown = chunkOf(this.head, choices);
    const event = JSON.stringify(this.showsUsage ? { ...shown, usage: null } : shown);
    if (event.length > LARGE_EVENT_CHARS) await this.pace.turn();
    await this.events.send(event);
  }
}

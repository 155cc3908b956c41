import type { JsonObject } from '../common/json-object.js';
import type { Readable } from 'node:stream';
import type { SseWriter } from '../common/http/sse-writer.js';
import { ClientLeft } from '../executions/pay-on-success.js';
import type { ChatChunk, TokenUsage } from '../providers/ports/chat.port.js';
import { type CompletionHead, choicesOf, chunkOf, headOf } from './chat-answer.js';
import { textsOf, viewTokenUsage } from './chat-usage.js';

/** Hands the chunks of one stream on to its reader and remembers what they are worth. */
export class ChatRelay {
  /** The texts made so far, to be counted where the provider reports no usage. */
  readonly made: string[] = [];
  /** Usage as the provider reported it last; null where it made more after that. */
  usage: TokenUsage | null = null;
  /** Whether the model has said why it ended; only the usage is still to come. */
  isFinished = false;
  private reportedUsage: unknown;
  private source: Readable | undefined;
  private head: CompletionHead | undefined;

  constructor(
    private readonly events: SseWriter,
    private readonly fallback: CompletionHead,
    private readonly showsUsage: boolean,
  ) {}

  /**
   * Hands chunks on until the provider is done or the reader is gone. Throws what broke the stream, but not the
   * reader's leaving.
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
      // Told apart by the error, not by the reader's socket: what broke first decides.
      if (!(error instanceof ClientLeft)) throw error;
    }
  }

  /** Takes account of what has arrived but was not handed on; the provider made it all the same. */
  takeWaiting(): void {
    for (;;) {
      const item = this.source?.read() as ChatChunk | null | undefined;
      if (!item) return;
      this.take(item);
    }
  }

  /** Shows the usage to a reader who asked for it, in a chunk of its own (decision G-93). */
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
    await this.events.send(JSON.stringify(this.showsUsage ? { ...shown, usage: null } : shown));
  }
}

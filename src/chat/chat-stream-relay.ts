import type { JsonObject } from '../common/json-object.js';
import type { Readable } from 'node:stream';
import type { SseWriter } from '../common/http/answers/sse-writer.js';
import { ClientLeft, DeadlinePassed } from '../billing/calls/pay-on-success.js';
import { ProviderError } from '../providers/http/provider-error.js';
import type { ChatChunk, ChatStream, TokenUsage } from '../providers/ports/chat.port.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { AnswerChunks } from './answer-chunks.js';
import { type CompletionHead, choicesOf, headOf } from './completion.mapper.js';
import { textsOf } from './chat-texts.js';
import { viewChatUsage } from './chat-usage.js';
import { isReason } from '../providers/ports/finish-reason.js';
import type { GeneratedTextBuffer } from './generated-text.js';
import { BackpressureClock } from './backpressure-clock.js';
import { TooManyCallsError } from './tool-calls.js';

/** Forwards the chunks of one stream to its reader and remembers what they cost. */
export class ChatStreamRelay {
  /** The last usage that the provider reported; null if more text came after it. */
  usage: TokenUsage | null = null;
  /** Whether the model has said why it ended. Afterwards only the usage follows. */
  isFinished = false;
  private source: Readable | undefined;
  private head: CompletionHead | undefined;
  private readonly chunks = new AnswerChunks();
  private readonly waits = new BackpressureClock();

  constructor(
    private readonly events: Pick<SseWriter, 'send' | 'isGone' | 'cut'>,
    private readonly own: CompletionHead,
    private readonly showsUsage: boolean,
    private readonly made: GeneratedTextBuffer,
  ) {}

  /**
   * Forwards chunks until the provider has finished or the reader has left. Resolves with false when the deadline of the
   * call came first, the reader had left, and no usage had been reported. Rejects with any other error that broke the
   * stream; that the reader left is no error. A slow reader for whom a provider does not keep the connection is cut
   * off, as if it had left. `fault` makes the error of an answer that cannot be used.
   */
  run(source: Readable, fault: ChatStream['unusable']): Promise<boolean> {
    this.source = source;
    // Listeners keep no chunk while the reader takes it. An async iterator would, and costs more.
    return new Promise((resolve, reject) => {
      const broken = (error: Error): void => {
        // The error decides, not the state of the reader's socket, because the first event counts.
        if (error instanceof ClientLeft) resolve(true);
        else if (error instanceof DeadlinePassed && this.events.isGone)
          resolve(this.usage !== null);
        else if (hasLostConnection(error) && this.waits.isSlow(performance.now())) {
          this.events.cut();
          resolve(true);
        } else reject(error);
      };
      const closed = (): void => {
        if (source.readableEnded) resolve(true);
        else broken(source.errored ?? new Error('the chunks broke off'));
      };
      source.on('error', broken);
      if (source.closed) closed();
      else source.on('close', closed);
      source.on('data', (item: ChatChunk) => {
        this.forwardAndPause(source, item, fault);
      });
    });
  }

  /** Takes what has arrived but was not forwarded, because the provider made it all the same. */
  takeWaiting(): void {
    // The listener gets each chunk that is read.
    while (this.source?.read()) continue;
  }

  /**
   * Once the charge is durable: sends a reason for each choice that the provider ended without one, and the usage in a
   * chunk of its own to a reader that requested it (decisions G-24, G-93).
   */
  async end(usage: TokenUsage, chargedMicroUsd: MicroUsd): Promise<void> {
    if (this.head === undefined) return;
    const last = this.chunks.endOf(this.head);
    if (last) await this.events.send(this.withUsage(last));
    if (!this.showsUsage) return;
    const view = viewChatUsage(usage, chargedMicroUsd);
    const chunk = { ...this.chunks.chunkOf(this.head, []), usage: view };
    await this.events.send(JSON.stringify(chunk));
  }

  private take({ chunk, usage }: ChatChunk): void {
    for (const choice of choicesOf(chunk)) {
      if (isReason(choice.finish_reason)) this.isFinished = true;
      const texts = textsOf(choice.delta);
      if (texts.length === 0) continue;
      this.made.push(texts);
      this.usage = null;
    }
    // The last report counts, but for one of zeros behind a real one.
    if (usage && (usage.completionTokens > 0 || this.usage === null)) this.usage = usage;
  }

  /** An error breaks the stream, because nothing else would hear of one in a listener. */
  private forwardAndPause(source: Readable, item: ChatChunk, fault: ChatStream['unusable']): void {
    try {
      const taken = this.forward(item);
      if (taken === undefined) return;
      source.pause();
      this.waits.begin(performance.now());
      void taken.then(() => {
        this.waits.end(performance.now());
        source.resume();
      });
    } catch (error) {
      if (error instanceof TooManyCallsError) source.destroy(fault('too_many_tool_calls'));
      else source.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Returns a promise if the next chunk has to wait for the reader. */
  private forward(item: ChatChunk): Promise<void> | undefined {
    this.take(item);
    // Hidden reasoning goes on without a reader. To write large chunks for nobody costs more CPU than to read them.
    if (this.events.isGone) return undefined;
    const choices = choicesOf(item.chunk);
    return choices.length > 0 ? this.send(item.chunk, choices) : undefined;
  }

  private send(chunk: JsonObject, choices: readonly JsonObject[]): Promise<void> | undefined {
    this.head ??= headOf(chunk, this.own);
    return this.events.send(this.withUsage(this.chunks.chunkOf(this.head, choices)));
  }

  /** A reader that requested the usage finds its field on every chunk. */
  private withUsage(chunk: JsonObject): string {
    return JSON.stringify(this.showsUsage ? { ...chunk, usage: null } : chunk);
  }
}

/** A provider that says that it failed, or is silent while it is read, does not do so because its reader is slow. */
function hasLostConnection(error: Error): boolean {
  if (!(error instanceof ProviderError) || error.kind === 'timeout') return false;
  return error.upstreamStatus === undefined;
}

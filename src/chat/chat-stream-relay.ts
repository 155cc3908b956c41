import type { JsonObject } from '../common/json-object.js';
import type { Readable } from 'node:stream';
import type { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { ClientLeft, DeadlinePassed } from '../billing/calls/call-errors.js';
import { ProviderError } from '../providers/http/provider-error.js';
import {
  type ChatChunk,
  type ChatStream,
  type TokenUsage,
  isReason,
} from '../providers/ports/chat.port.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { CompletionChunks } from './completion-chunks.js';
import { type CompletionHead, choicesOf, headOf } from './completion.mapper.js';
import { textsOf } from './chat-texts.js';
import { viewChatUsage } from './chat-usage.js';
import type { GeneratedTextBuffer } from './generated-text.js';
import { BackpressureClock } from './backpressure-clock.js';
import { TooManyCallsError } from './tool-calls.js';

/** Forwards the chunks of one stream to its client and records the usage to charge. */
export class ChatStreamRelay {
  /** The last usage that the provider reported; null if more text came after it. */
  usage: TokenUsage | null = null;
  /** Whether the model has sent its finish reason. Only the usage follows it. */
  isFinished = false;
  private source: Readable | undefined;
  private head: CompletionHead | undefined;
  private readonly chunks = new CompletionChunks();
  private readonly backpressure = new BackpressureClock();

  constructor(
    private readonly events: Pick<SseWriter, 'send' | 'isGone' | 'cut'>,
    private readonly own: CompletionHead,
    private readonly showsUsage: boolean,
    private readonly generated: GeneratedTextBuffer,
  ) {}

  /**
   * Forwards chunks until the provider has finished or the client has disconnected. Resolves with false when the
   * deadline of the call passed after the client had disconnected and before the provider reported a usage. Rejects
   * with any other error that broke the stream; a disconnect of the client is not an error. A slow client is
   * disconnected if the provider closes its connection meanwhile, and is charged as if it had disconnected by itself.
   * `fault` makes the error for a response that cannot be used.
   */
  run(source: Readable, fault: ChatStream['unusable']): Promise<boolean> {
    this.source = source;
    // Listeners keep no chunk while the client receives it. An async iterator would, and costs more.
    return new Promise((resolve, reject) => {
      const broken = (error: Error): void => {
        // The error decides, not the state of the client's socket, because the first event counts.
        if (error instanceof ClientLeft) resolve(true);
        else if (error instanceof DeadlinePassed && this.events.isGone)
          resolve(this.usage !== null);
        else if (hasLostConnection(error) && this.backpressure.isSlow(performance.now())) {
          this.events.cut();
          resolve(true);
        } else reject(error);
      };
      const closed = (): void => {
        if (source.readableEnded) resolve(true);
        else broken(source.errored ?? new Error('the stream of chunks ended early'));
      };
      source.on('error', broken);
      if (source.closed) closed();
      else source.on('close', closed);
      source.on('data', (item: ChatChunk) => {
        this.forwardAndPause(source, item, fault);
      });
    });
  }

  /** Counts chunks that have arrived but were not forwarded, because the provider generated and bills them. */
  drainBuffered(): void {
    // Each `read()` calls the `data` listener with one chunk.
    while (this.source?.read()) continue;
  }

  /**
   * Called once the charge is durable. Sends a finish reason for each choice that the provider ended without one, and
   * the usage in a chunk of its own to a client that requested it (decisions G-24, G-93).
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

  private record({ chunk, usage }: ChatChunk): void {
    for (const choice of choicesOf(chunk)) {
      if (isReason(choice.finish_reason)) this.isFinished = true;
      const texts = textsOf(choice.delta);
      if (texts.length === 0) continue;
      this.generated.push(texts);
      this.usage = null;
    }
    // The last report counts, except a report of zeros after a real one.
    if (usage && (usage.completionTokens > 0 || this.usage === null)) this.usage = usage;
  }

  /** An error destroys the stream, because nothing else would handle an error thrown in a listener. */
  private forwardAndPause(source: Readable, item: ChatChunk, fault: ChatStream['unusable']): void {
    try {
      const sent = this.forward(item);
      if (sent === undefined) return;
      source.pause();
      this.backpressure.begin(performance.now());
      void sent.then(() => {
        this.backpressure.end(performance.now());
        source.resume();
      });
    } catch (error) {
      if (error instanceof TooManyCallsError) source.destroy(fault('too_many_tool_calls'));
      else source.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Returns a promise if the next chunk has to wait for the client. */
  private forward(item: ChatChunk): Promise<void> | undefined {
    this.record(item);
    // A call with hidden reasoning continues without a client. Writing large chunks for nobody costs more CPU than
    // reading them.
    if (this.events.isGone) return undefined;
    const choices = choicesOf(item.chunk);
    return choices.length > 0 ? this.send(item.chunk, choices) : undefined;
  }

  private send(chunk: JsonObject, choices: readonly JsonObject[]): Promise<void> | undefined {
    this.head ??= headOf(chunk, this.own);
    return this.events.send(this.withUsage(this.chunks.chunkOf(this.head, choices)));
  }

  /** A client that requested the usage gets the field `usage` in every chunk. */
  private withUsage(chunk: JsonObject): string {
    return JSON.stringify(this.showsUsage ? { ...chunk, usage: null } : chunk);
  }
}

/**
 * Whether the provider closed the connection without reporting an error. A provider that reports an error or sends
 * nothing while it is read does not do so because its client is slow.
 */
function hasLostConnection(error: Error): boolean {
  if (!(error instanceof ProviderError) || error.kind === 'timeout') return false;
  return error.upstreamStatus === undefined;
}

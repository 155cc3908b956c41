import type { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import type { SseWriter } from '../platform/http-server/responses/sse-response.js';
import type { ChatEvent } from '../providers/ports/chat.port.js';
import type { Bill, StreamFace } from '../text/text-face.js';
import { CompletionChunks } from './completion-chunks.js';
import { choicesOf, type CompletionHead, headOf } from './completion.mapper.js';
import { PartChoices } from './part-choices.js';
import { viewChatUsage } from './usage.view.js';

/** Chat completions as chunks, then `[DONE]` (API: POST /v1/chat/completions). */
export class ChunkFace implements StreamFace {
  private head: CompletionHead | undefined;
  private readonly chunks = new CompletionChunks();
  private parts: PartChoices | undefined;

  /** `own` names the answer. With `showsUsage` the caller wants a stream to show its usage. */
  constructor(
    private readonly events: Pick<SseWriter, 'send' | 'end'>,
    private readonly own: CompletionHead,
    private readonly showsUsage: boolean,
  ) {}

  forward({ native, parts }: ChatEvent): Promise<void> | undefined {
    const choices = native === null ? this.choicesOf(parts) : choicesOf(native);
    if (choices.length === 0) return undefined;
    this.head ??= native === null ? this.own : headOf(native, this.own);
    return this.events.send(this.withUsage(this.chunks.chunkOf(this.head, choices)));
  }

  /**
   * Sends a finish reason for each choice that the provider ended without one, and the usage in a chunk of its own to a
   * client that requested it (decisions G-24, G-93).
   */
  async end(bill: Bill): Promise<void> {
    if (this.head !== undefined) await this.sendLast(this.head, bill);
    await this.events.end('[DONE]');
  }

  async fail(error: GatewayError): Promise<void> {
    await this.events.end(JSON.stringify(error.toEnvelope()));
  }

  private async sendLast(head: CompletionHead, bill: Bill): Promise<void> {
    const last = this.chunks.endOf(head);
    if (last) await this.events.send(this.withUsage(last));
    if (!this.showsUsage) return;
    const chunk = { ...this.chunks.chunkOf(head, []), usage: viewChatUsage(bill) };
    await this.events.send(JSON.stringify(chunk));
  }

  private choicesOf(parts: ChatEvent['parts']): readonly JsonObject[] {
    this.parts ??= new PartChoices();
    return this.parts.choicesOf(parts);
  }

  /** A client that requested the usage gets the field `usage` in every chunk. */
  private withUsage(chunk: JsonObject): string {
    return JSON.stringify(this.showsUsage ? { ...chunk, usage: null } : chunk);
  }
}

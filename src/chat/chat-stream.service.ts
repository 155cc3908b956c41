import { Injectable } from '@nestjs/common';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import type { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { toCompletionId } from '../common/ids/public-id.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { ClientLeft } from '../billing/calls/call-errors.js';
import type { PaidCall } from '../billing/calls/paid-call.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { basisOf, type CountedUsage } from './charge-basis.js';
import { ChatImages } from './chat-images.js';
import { chargeOf, type ChatQuote } from './chat-pricing.js';
import { heldChatOf } from './held-chat.js';
import { ChatStreamRelay } from './chat-stream-relay.js';
import { type GeneratedTextBuffer, GeneratedTextBuffers } from './generated-text.js';
import { StreamOutcomes } from './stream-outcomes.js';

/** One stream between its hold and its end. */
interface OpenStream {
  readonly call: AdmittedCall<'chat'>;
  readonly quote: ChatQuote;
  readonly events: SseWriter;
  readonly generated: GeneratedTextBuffer;
}

/** A stream that was completed. */
interface EndedStream {
  readonly relay: ChatStreamRelay;
  readonly usage: CountedUsage;
  readonly chargedMicroUsd: MicroUsd;
}

/** Chat completions as server-sent events (API: POST /v1/chat/completions). */
@Injectable()
export class ChatStreamService {
  constructor(
    private readonly calls: PaidCalls,
    private readonly images: ChatImages,
    private readonly outcomes: StreamOutcomes,
    private readonly texts: GeneratedTextBuffers,
    private readonly clock: Clock,
  ) {}

  /**
   * Forwards each chunk as it arrives; `[DONE]` follows once the charge is durable. When a provider disconnects early,
   * the stream ends with an error event and nothing is charged. When a client disconnects, the upstream request is
   * aborted, at its first chunk or later, and the client pays for the prompt and the generated text. But if the model
   * has hidden reasoning, the upstream request continues to its end and the client pays for the reported usage
   * (decision G-24). Throws errors from before the response head, which is sent with the first chunk or 5 s after the
   * hold (decision G-93), and also throws the error that it sent as an error event.
   */
  async stream(call: AdmittedCall<'chat'>, quote: ChatQuote, events: SseWriter): Promise<void> {
    await this.images.check(quote.request.messages);
    const generated = this.texts.begin(call.caller.accountId);
    let ended: EndedStream;
    try {
      ended = await this.forward({ call, quote, events, generated });
    } catch (error) {
      if (events.hasBegun) await events.end(JSON.stringify(toGatewayError(error).toEnvelope()));
      else events.drop();
      throw error;
    } finally {
      generated.drop();
    }
    await ended.relay.end(ended.usage, ended.chargedMicroUsd);
    await events.end('[DONE]');
  }

  /** Forwards the stream to its end and settles. Throws when it broke, after the release. */
  private async forward({ call, quote, events, generated }: OpenStream): Promise<EndedStream> {
    await using paid = await this.calls.start(call, quote.hold);
    const held = heldChatOf(quote, paid);
    events.wait();
    const head = {
      id: toCompletionId(call.executionId),
      created: this.clock.nowSeconds(),
      model: call.modelName,
    };
    const relay = new ChatStreamRelay(events, head, quote.showsUsage, generated);
    // Resolves at the first chunk, also after the client has disconnected: only then it is known whether the provider
    // accepted the prompt, which is charged.
    const { provider, upstreamModel, result } = await paid.attempt((port, context) => {
      // No further provider is tried for a client that has disconnected.
      if (events.isGone) throw new ClientLeft();
      return port.stream(held.command, context);
    });
    paid.onFirstByte();
    const relayed = relay.run(result.body, result.unusable);
    if (!call.row.hiddenReasoning) abortOnDisconnect(events, relay, paid);
    const stream = { call, held, relay, generated, route: { provider, upstreamModel } };
    const isWhole = await paid.orRelease(
      relayed.catch(async (error: unknown) => {
        paid.onMade(await this.outcomes.broke(stream));
        throw error;
      }),
    );
    const counted = await paid.orRelease(this.outcomes.ended(stream));
    // Hidden reasoning cannot be counted, so the rest of the hold is charged for it.
    const usage = { ...counted, isEstimated: counted.isEstimated || !isWhole };
    const charge = isWhole
      ? chargeOf(call.row, usage, held.ceilingMicroUsd)
      : { chargedMicroUsd: held.ceilingMicroUsd, isCapped: false };
    const chargedMicroUsd = await paid.settle({ ...charge, basis: basisOf(call.row, usage) });
    return { relay, usage, chargedMicroUsd };
  }
}

/** Aborts the upstream request when the client disconnects. If only the usage is missing, waits for it 5 s at most. */
function abortOnDisconnect(
  events: SseWriter,
  relay: ChatStreamRelay,
  paid: PaidCall<'chat'>,
): void {
  events.onGone(() => {
    relay.drainBuffered();
    if (!relay.isFinished || relay.usage !== null) paid.abort(new ClientLeft());
  });
}

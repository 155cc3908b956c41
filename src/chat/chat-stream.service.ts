import { Injectable } from '@nestjs/common';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import type { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { toCompletionId } from '../common/ids/public-id.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { ClientLeft, type PaidResult, PayOnSuccess } from '../billing/calls/pay-on-success.js';
import type { CallProgress } from '../billing/calls/call-state.js';
import type { ChatCommand, ChatStream } from '../providers/ports/chat.port.js';
import { ProviderRouter, type RoutedResult } from '../providers/routing/provider-router.js';
import { basisOf, type CountedUsage } from './charge-basis.js';
import { ChatImages } from './chat-images.js';
import { chargeOf, type ChatQuote } from './chat-pricing.js';
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
    private readonly payOnSuccess: PayOnSuccess,
    private readonly router: ProviderRouter,
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
    await this.images.check(quote.command.messages);
    const generated = this.texts.begin(call.caller.accountId);
    let ended: EndedStream;
    try {
      const held = { amountMicroUsd: quote.ceilingMicroUsd, basis: null };
      ended = await this.payOnSuccess.run(call, held, (signal, progress) =>
        this.forward({ call, quote, events, generated }, signal, progress),
      );
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

  private async forward(
    { call, quote, events, generated }: OpenStream,
    callSignal: AbortSignal,
    progress: CallProgress,
  ): Promise<PaidResult<EndedStream>> {
    const head = {
      id: toCompletionId(call.executionId),
      created: this.clock.nowSeconds(),
      model: call.modelName,
    };
    events.wait();
    const relay = new ChatStreamRelay(events, head, quote.showsUsage, generated);
    const gone = new AbortController();
    const signal = AbortSignal.any([callSignal, gone.signal]);
    const { provider, upstreamModel, result } = await this.open(
      call,
      quote.command,
      events,
      signal,
      progress,
    );
    progress.onFirstByte();
    const relayed = relay.run(result.body, result.unusable);
    if (!call.row.hiddenReasoning) abortOnDisconnect(events, relay, gone);
    const stream = { call, quote, relay, generated, route: { provider, upstreamModel } };
    const isWhole = await relayed.catch(async (error: unknown) => {
      progress.onMade(await this.outcomes.broke(stream));
      throw error;
    });
    const counted = await this.outcomes.ended(stream);
    // Hidden reasoning cannot be counted, so the rest of the hold is charged for it.
    const usage = { ...counted, isEstimated: counted.isEstimated || !isWhole };
    const charge = isWhole
      ? chargeOf(call.row, usage, quote.ceilingMicroUsd)
      : { chargedMicroUsd: quote.ceilingMicroUsd, isCapped: false };
    return {
      value: { relay, usage, chargedMicroUsd: charge.chargedMicroUsd },
      provider,
      upstreamModel,
      providerRequestId: result.providerRequestId,
      ...charge,
      basis: basisOf(call.row, usage),
    };
  }

  /**
   * Resolves at the first chunk, also after the client has disconnected: only then it is known whether the provider
   * accepted the prompt, which is charged. No further provider is tried for a client that has disconnected.
   */
  private open(
    call: AdmittedCall<'chat'>,
    command: ChatCommand,
    events: SseWriter,
    signal: AbortSignal,
    progress: CallProgress,
  ): Promise<RoutedResult<ChatStream>> {
    return this.router.run(
      call.routes,
      call.row.operation,
      (port, context) => {
        if (events.isGone) throw new ClientLeft();
        return port.stream(command, context);
      },
      signal,
      progress,
    );
  }
}

/** Aborts the upstream request when the client disconnects. If only the usage is missing, waits for it 5 s at most. */
function abortOnDisconnect(events: SseWriter, relay: ChatStreamRelay, stop: AbortController): void {
  events.onGone(() => {
    relay.drainBuffered();
    if (!relay.isFinished || relay.usage !== null) stop.abort(new ClientLeft());
  });
}

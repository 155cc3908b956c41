import { Injectable } from '@nestjs/common';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import type { SseWriter } from '../platform/http-server/responses/sse-response.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { ClientLeft } from '../billing/calls/call-errors.js';
import type { PaidCall } from '../billing/calls/paid-call.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { assumedUsageOf, basisOf } from './charge-basis.js';
import { type GeneratedTextBuffer, GeneratedTextBuffers } from './generated-text.js';
import { heldTextOf } from './held-text.js';
import { NamedImages } from './named-images.js';
import { routedCallOf } from './routed-call.js';
import { StreamOutcomes } from './stream-outcomes.js';
import { StreamRelay } from './stream-relay.js';
import type { Bill, StreamFace } from './text-face.js';
import { chargeOf, type TextQuote } from './text-quote.js';

/** One stream between its hold and its end. */
interface OpenStream {
  readonly call: AdmittedCall<'chat'>;
  readonly quote: TextQuote;
  readonly face: StreamFace;
  readonly events: SseWriter;
  readonly generated: GeneratedTextBuffer;
}

/** Answers of every face as server-sent events. */
@Injectable()
export class TextStreams {
  constructor(
    private readonly calls: PaidCalls,
    private readonly images: NamedImages,
    private readonly outcomes: StreamOutcomes,
    private readonly texts: GeneratedTextBuffers,
  ) {}

  /**
   * Forwards each event as it arrives; the face ends the answer once the charge is durable. When a provider disconnects
   * early, the face tells an error and nothing is charged. When a client disconnects, the upstream request is
   * aborted, at its first chunk or later, and the client pays for the prompt and the generated text. But if the model
   * has hidden reasoning, the upstream request continues to its end and the client pays for the reported usage
   * (decision G-24). Throws errors from before the response head, which is sent with the first event or 5 s after the
   * hold (decision G-93), and also throws the error that the face told.
   */
  async stream(
    call: AdmittedCall<'chat'>,
    quote: TextQuote,
    face: StreamFace,
    events: SseWriter,
  ): Promise<void> {
    const asked = await this.images.ready(call, quote.asked);
    const generated = this.texts.begin(call.caller.accountId);
    let bill: Bill;
    try {
      bill = await this.forward({ call, quote: { ...quote, asked }, face, events, generated });
    } catch (error) {
      if (events.hasBegun) await face.fail(toGatewayError(error));
      else events.drop();
      throw error;
    } finally {
      generated.drop();
    }
    await face.end(bill);
  }

  /** Forwards the stream to its end and settles. Throws when it broke, after the release. */
  private async forward({ call, quote, face, events, generated }: OpenStream): Promise<Bill> {
    await using paid = await this.calls.start(routedCallOf(call, quote.asked), quote.hold);
    const held = heldTextOf(quote, paid);
    events.wait();
    const relay = new StreamRelay(events, face, generated);
    // Resolves at the first event, also after the client has disconnected: only then it is known whether the provider
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
    const usage = isWhole ? counted : assumedUsageOf(counted, held.command.maxTokens);
    const charge = chargeOf(call.row, usage, held.ceilingMicroUsd);
    const chargedMicroUsd = await paid.settle({ ...charge, basis: basisOf(call.row, usage) });
    return { usage, chargedMicroUsd, heldMicroUsd: held.ceilingMicroUsd };
  }
}

/** Aborts the upstream request when the client disconnects. If only the usage is missing, waits for it 5 s at most. */
function abortOnDisconnect(events: SseWriter, relay: StreamRelay, paid: PaidCall<'chat'>): void {
  events.onGone(() => {
    relay.leave(() => {
      paid.abort(new ClientLeft());
    });
  });
}

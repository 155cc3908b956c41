import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import type { JsonObject } from '../common/json-object.js';
import type { Charged } from '../platform/http-server/responses/gateway-headers.js';
import { ProviderError } from '../providers/http/provider-error.js';
import { UnusableAnswer } from '../providers/ports/unusable-answer.js';
import { basisOf } from './charge-basis.js';
import { heldTextOf } from './held-text.js';
import { NamedImages } from './named-images.js';
import { routedCallOf } from './routed-call.js';
import type { AnswerFace } from './text-face.js';
import { chargeOf, type TextQuote } from './text-quote.js';
import { TextUsage } from './text-usage.js';

/** Answers of every face as one JSON object. */
@Injectable()
export class TextAnswers {
  constructor(
    private readonly calls: PaidCalls,
    private readonly images: NamedImages,
    private readonly usage: TextUsage,
  ) {}

  /**
   * Returns the answer once its charge is durable. A disconnect of the client changes nothing, because the charge follows
   * the provider's success (decision G-25). Throws 402 `insufficient_user_quota` and the provider's failures.
   */
  async complete(
    call: AdmittedCall<'chat'>,
    quote: TextQuote,
    face: AnswerFace,
  ): Promise<Charged<JsonObject>> {
    const asked = await this.images.ready(call, quote.asked);
    await using paid = await this.calls.start(routedCallOf(call, asked), quote.hold);
    const { command, prompt, ceilingMicroUsd } = heldTextOf({ ...quote, asked }, paid);
    const { provider, upstreamModel, result } = await paid.attempt((port, context) =>
      port.complete(command, context),
    );
    const { answer, providerRequestId } = result;
    const completed = {
      accountId: call.caller.accountId,
      route: { provider, upstreamModel },
      prompt: () => prompt(answer.native !== null),
      maxTokens: command.maxTokens,
      hasHiddenReasoning: call.row.hiddenReasoning,
    };
    const generated = () => ({ text: answer.texts.join(''), uncountedTokens: 0 });
    const usage = await paid.orRelease(this.usage.of(completed, answer.usage, generated));
    const charge = chargeOf(call.row, usage, ceilingMicroUsd);
    const { chargedMicroUsd } = charge;
    const bill = { usage, chargedMicroUsd, heldMicroUsd: ceilingMicroUsd };
    const basis = basisOf(call.row, usage);
    let value: JsonObject;
    try {
      value = face.answer(answer, bill);
    } catch (error) {
      if (!(error instanceof UnusableAnswer)) throw error;
      const { unit, quantity } = basis;
      paid.onMade({ unit, quantity });
      const failure = { provider, sent: true, upstreamCode: error.code, providerRequestId };
      return await paid.orRelease(Promise.reject(new ProviderError('http_error', failure)));
    }
    await paid.settle({ ...charge, basis });
    return { value, chargedMicroUsd };
  }
}

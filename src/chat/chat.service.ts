import { Injectable } from '@nestjs/common';
import type { Charged } from '../platform/http-server/responses/gateway-headers.js';
import { toCompletionId } from '../common/ids/public-id.js';
import type { JsonObject } from '../common/json-object.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { choicesOf, completionOf, headOf } from './completion.mapper.js';
import { basisOf } from './charge-basis.js';
import { ChatImages } from './chat-images.js';
import { chargeOf, type ChatQuote } from './chat-pricing.js';
import { heldChatOf } from './held-chat.js';
import { textsOf } from './chat-texts.js';
import { ChatUsage, viewChatUsage } from './chat-usage.js';

/** Chat completions as one JSON object (API: POST /v1/chat/completions). */
@Injectable()
export class ChatService {
  constructor(
    private readonly calls: PaidCalls,
    private readonly images: ChatImages,
    private readonly usage: ChatUsage,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the completion once its charge is durable. A disconnect of the client changes nothing, because the charge
   * follows the provider's success (decision G-25). Throws 402 `insufficient_user_quota` and the provider's failures.
   */
  async complete(call: AdmittedCall<'chat'>, quote: ChatQuote): Promise<Charged<JsonObject>> {
    await this.images.check(quote.request.messages);
    await using paid = await this.calls.start(call, quote.hold);
    const { command, ceilingMicroUsd } = heldChatOf(quote, paid);
    const { provider, upstreamModel, result } = await paid.attempt((port, context) =>
      port.complete(command, context),
    );
    const { completion, usage: reported } = result;
    const texts = () => choicesOf(completion).flatMap(({ message }) => textsOf(message));
    const generated = () => ({ text: texts().join(''), uncountedTokens: 0 });
    const completed = {
      accountId: call.caller.accountId,
      route: { provider, upstreamModel },
      command,
      hasHiddenReasoning: call.row.hiddenReasoning,
    };
    const usage = await paid.orRelease(this.usage.of(completed, reported, generated));
    const charge = chargeOf(call.row, usage, ceilingMicroUsd);
    const head = headOf(completion, {
      id: toCompletionId(call.executionId),
      created: this.clock.nowSeconds(),
      model: call.modelName,
    });
    const value = completionOf(head, completion, viewChatUsage(usage, charge.chargedMicroUsd));
    const chargedMicroUsd = await paid.settle({ ...charge, basis: basisOf(call.row, usage) });
    return { value, chargedMicroUsd };
  }
}

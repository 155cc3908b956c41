import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CHARGE_HEADER } from '../common/http/audio-answer.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { PayOnSuccess } from '../executions/pay-on-success.js';
import { ProviderRouter } from '../providers/routing/provider-router.js';
import { choicesOf, completionOf, headOf } from './chat-answer.js';
import { chargeOf, orderOf } from './chat-order.js';
import { ChatUsage, textsOf, viewUsage } from './chat-usage.js';
import type { ChatBody } from './dto/chat.body.js';

/** Chat completions as one JSON object (spec: POST /v1/chat/completions). */
@Injectable()
export class ChatService {
  constructor(
    private readonly payment: PayOnSuccess,
    private readonly router: ProviderRouter,
    private readonly usage: ChatUsage,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers the completion once its charge is durable. A client that leaves changes nothing: the charge follows the
   * provider's success (decision G-25). Throws 402 `insufficient_user_quota` and the provider's failures.
   */
  async complete(call: AdmittedCall<'chat'>, body: ChatBody, response: Response): Promise<void> {
    const { command, ceilingMicroUsd } = orderOf(call.row, body);
    const answer = await this.payment.run(call, ceilingMicroUsd, async (signal) => {
      const { provider, result } = await this.router.run(
        call.routes,
        'chat',
        (port, context) => port.complete(command, context),
        signal,
      );
      const { completion, providerRequestId } = result;
      const made = choicesOf(completion).flatMap(({ message }) => textsOf(message));
      const usage = await this.usage.of(result.usage, command, made);
      const chargedMicroUsd = chargeOf(call.row, usage, ceilingMicroUsd);
      const fallback = {
        id: `chatcmpl-${call.executionId}`,
        created: this.clock.nowSeconds(),
        model: call.row.id,
      };
      const head = headOf(completion, fallback);
      const view = completionOf(head, completion, viewUsage(usage, completion.usage));
      return { value: { view, chargedMicroUsd }, provider, providerRequestId, chargedMicroUsd };
    });
    response.setHeader(CHARGE_HEADER, formatMicroUsd(answer.chargedMicroUsd));
    response.json(answer.view);
  }
}

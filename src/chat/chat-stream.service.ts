import { Injectable } from '@nestjs/common';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import type { SseWriter } from '../common/http/sse-writer.js';
import { type StopSignal, StopSource } from '../common/stop-signal.js';
import { Clock } from '../common/time/clock.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { ClientLeft, type PaidResult, PayOnSuccess } from '../executions/pay-on-success.js';
import type { ChatStream } from '../providers/ports/chat.port.js';
import { ProviderRouter, type RoutedResult } from '../providers/routing/provider-router.js';
import { chargeOf, type ChatOrder, orderOf } from './chat-order.js';
import { ChatRelay } from './chat-relay.js';
import { ChatUsage } from './chat-usage.js';
import type { ChatBody } from './dto/chat.body.js';

/** Chat completions as server-sent events (spec: POST /v1/chat/completions). */
@Injectable()
export class ChatStreamService {
  constructor(
    private readonly payment: PayOnSuccess,
    private readonly router: ProviderRouter,
    private readonly usage: ChatUsage,
    private readonly clock: Clock,
  ) {}

  /**
   * Forwards each chunk as it comes; `[DONE]` follows once the charge is durable. A provider that breaks off ends the
   * stream with an error event and charges nothing; a client that leaves ends the provider's work and pays for what was
   * made (decision G-24). Throws what happens before the first chunk, and once more what the error event has told.
   */
  async stream(call: AdmittedCall<'chat'>, body: ChatBody, events: SseWriter): Promise<void> {
    const order = orderOf(call.row, body);
    try {
      await this.payment.run(call, order.ceilingMicroUsd, (signal) =>
        this.forward(call, order, events, signal),
      );
    } catch (error) {
      if (events.hasBegun) {
        await events.end(JSON.stringify(toGatewayError(error).toEnvelope()));
      }
      throw error;
    }
    await events.end('[DONE]');
  }

  private async forward(
    call: AdmittedCall<'chat'>,
    order: ChatOrder,
    events: SseWriter,
    shutdown: StopSignal,
  ): Promise<PaidResult<void>> {
    const head = {
      id: `chatcmpl-${call.executionId}`,
      created: this.clock.nowSeconds(),
      model: call.row.id,
    };
    const relay = new ChatRelay(events, head, order.showsUsage);
    const signal = new StopSource(shutdown);
    events.onGone(() => {
      relay.takeWaiting();
      signal.abort(new ClientLeft());
    });
    const { provider, result } = await this.open(call, order, signal);
    await relay.run(result.body);
    const usage = await this.usage.of(relay.usage, order.command, relay.made);
    await relay.end(usage);
    const chargedMicroUsd = chargeOf(call.row, usage, order.ceilingMicroUsd);
    return {
      value: undefined,
      provider,
      providerRequestId: result.providerRequestId,
      chargedMicroUsd,
    };
  }

  private open(
    call: AdmittedCall<'chat'>,
    { command }: ChatOrder,
    signal: StopSignal,
  ): Promise<RoutedResult<ChatStream>> {
    return this.router.run(
      call.routes,
      'chat',
      (port, context) => port.stream(command, context),
      signal,
    );
  }
}

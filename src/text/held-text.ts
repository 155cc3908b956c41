import assert from 'node:assert/strict';
import type { PaidCall } from '../billing/calls/paid-call.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { setOutputCapHeaders } from '../platform/http-server/responses/gateway-headers.js';
import type { ChatCommand } from '../providers/ports/chat.port.js';
import type { TextQuote } from './text-quote.js';
import type { PromptOf } from './text-request.js';

/** A call whose money is held: what the provider gets, and the most that the call may cost. */
export interface HeldText {
  readonly command: ChatCommand;
  readonly prompt: PromptOf;
  readonly ceilingMicroUsd: MicroUsd;
}

/**
 * The call that the hold buys. Its output cap is always sent to the provider: without one it could generate more than is
 * held. A cap that the gateway chose is told in headers and recorded (decision G-106).
 */
export function heldTextOf(
  { asked: { request, prompt }, hold, maxTokens: wanted }: TextQuote,
  paid: Pick<PaidCall<'chat'>, 'held' | 'response' | 'onOutputCap'>,
): HeldText {
  const { amountMicroUsd: ceilingMicroUsd, capReason } = paid.held;
  if (wanted !== undefined) {
    return { command: { ...request, maxTokens: wanted }, prompt, ceilingMicroUsd };
  }
  const maxTokens = hold.outputCapFor?.(ceilingMicroUsd);
  assert(maxTokens !== undefined && capReason !== null, 'a fitted hold buys an output cap');
  paid.onOutputCap(maxTokens);
  if (paid.response) setOutputCapHeaders(paid.response, maxTokens, capReason);
  return { command: { ...request, maxTokens }, prompt, ceilingMicroUsd };
}

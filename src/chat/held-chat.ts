import assert from 'node:assert/strict';
import type { PaidCall } from '../billing/calls/paid-call.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { setOutputCapHeaders } from '../platform/http-server/responses/gateway-headers.js';
import type { ChatCommand } from '../providers/ports/chat.port.js';
import type { ChatQuote } from './chat-pricing.js';

/** A chat whose money is held: what the provider gets, and the most that the call may cost. */
export interface HeldChat {
  readonly command: ChatCommand;
  readonly ceilingMicroUsd: MicroUsd;
}

/**
 * The chat that the hold of the call buys. Its output cap is always sent to the provider: without one it could generate more
 * than is held. A cap that the gateway chose is told in headers and recorded (decision G-106).
 */
export function heldChatOf(
  { request, hold, maxTokens: wanted }: ChatQuote,
  paid: Pick<PaidCall<'chat'>, 'held' | 'response' | 'onOutputCap'>,
): HeldChat {
  const { amountMicroUsd: ceilingMicroUsd, capReason } = paid.held;
  if (wanted !== undefined) return { command: { ...request, maxTokens: wanted }, ceilingMicroUsd };
  const maxTokens = hold.outputCapFor?.(ceilingMicroUsd);
  assert(maxTokens !== undefined && capReason !== null, 'a fitted hold buys an output cap');
  paid.onOutputCap(maxTokens);
  if (paid.response) setOutputCapHeaders(paid.response, maxTokens, capReason);
  return { command: { ...request, maxTokens }, ceilingMicroUsd };
}

import { REVERSAL } from '../billing/ledger-entry.js';
import type { RefundRequest } from '../billing/ledger-requests.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import type { RefundBody } from './dto/admin.bodies.js';

const KEY_FORM = /^[\x21-\x7e]{1,200}$/;
const PARAM = 'Idempotency-Key';

/** The key of a request that moves money once. Throws 400 for a missing or invalid one. */
export function neededKey(key: string | undefined): string {
  if (key !== undefined && KEY_FORM.test(key)) return key;
  const message = 'Idempotency-Key is required: 1 to 200 visible ASCII characters.';
  throw new GatewayError('invalid_request', message, { param: PARAM });
}

/**
 * What the operator asks to give back. A part needs a key, for it can be given back again; what is left cannot. Throws 400
 * for an invalid key, and for a note that would make the refund look like a reversal.
 */
export function sentRefund(
  { note, reason, amount_microusd: amount }: RefundBody,
  key: string | undefined,
): Omit<RefundRequest, 'of' | 'id'> {
  if (note === REVERSAL && key === undefined) {
    const message = `Without an ${PARAM} the note must not be "${REVERSAL}", which marks what the gateway gives back itself.`;
    throw new GatewayError('invalid_request', message, { param: 'note' });
  }
  return {
    note: note ?? null,
    reason,
    amountMicroUsd: amount === undefined ? undefined : parseMicroUsd(amount),
    idempotencyKey: amount === undefined && key === undefined ? undefined : neededKey(key),
  };
}

import type { CreditTerms } from '../billing/credit-terms.js';
import type { CreditRequest } from '../billing/ledger-requests.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import type { CreditBody } from './dto/admin.bodies.js';
import { neededKey } from './sent-refund.js';

/** The fields that only a credit takes. */
const TERMS = [
  'credit_kind',
  'kind',
  'expires_at',
  'payment_reference',
  'currency',
  'tax_microusd',
] as const;

/**
 * What the operator asks to credit, or with a negative amount to correct. Throws 400 without a valid key, for a reason of a credit, for
 * more tax than the amount, and for terms of a correction.
 */
export function sentCredit(
  body: CreditBody,
  key: string | undefined,
): Omit<CreditRequest, 'accountId'> {
  const amountMicroUsd = parseMicroUsd(body.amount_microusd) ?? 0n;
  const request = {
    amountMicroUsd,
    idempotencyKey: neededKey(key),
    reference: body.note ?? null,
    reason: body.reason,
  };
  if (amountMicroUsd > 0n) {
    if (body.reason !== undefined) {
      throw misplaced('reason', 'belongs to a correction, whose amount is negative.');
    }
    const terms = termsOf(body);
    if ((terms.taxMicroUsd ?? 0n) > amountMicroUsd) {
      throw misplaced('tax_microusd', 'must be at most amount_microusd, of which it is a part.');
    }
    return { ...request, terms };
  }
  const term = TERMS.find((name) => (body[name] ?? null) !== null);
  if (term !== undefined) throw misplaced(term, 'belongs to a credit, whose amount is positive.');
  return request;
}

function termsOf(body: CreditBody): CreditTerms {
  const { expires_at: expiresAt, tax_microusd: tax } = body;
  return {
    kind: kindOf(body),
    expiresAt: (expiresAt ?? null) === null ? null : new Date(Number(expiresAt) * 1000),
    paymentReference: body.payment_reference ?? null,
    currency: body.currency ?? null,
    taxMicroUsd: (tax ?? null) === null ? null : BigInt(String(tax)),
  };
}

function kindOf({ credit_kind: kind, kind: other }: CreditBody): CreditTerms['kind'] {
  if (kind !== undefined && other !== undefined && kind !== other) {
    throw misplaced('kind', 'and credit_kind are the same, so one of them is enough.');
  }
  return kind ?? other ?? 'paid';
}

const misplaced = (param: string, says: string): GatewayError =>
  new GatewayError('invalid_request', `${param} ${says}`, { param });

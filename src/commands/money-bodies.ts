import { CreditBody, RefundBody } from '../admin/dto/admin.bodies.js';
import type { Options } from './operator-request.js';
import { amountOf, given, microUsdText, misused, sent, without } from './parse-options.js';

const AMOUNT = 'amount-microusd';
const KEY = 'idempotency-key';

/** The body of a credit, whose amount is the second operand or `--usd`. Throws 400. */
export function creditBodyOf(amount: string | undefined, options: Options): CreditBody {
  const usd = given(options, 'usd');
  if (usd !== undefined && amount !== undefined) {
    throw misused('Name the amount once: AMOUNT_MICROUSD or --usd.');
  }
  const microUsd = usd === undefined ? amount : microUsdText(usd, 'usd');
  const others = without(options, KEY);
  return sent(CreditBody, others, microUsd === undefined ? {} : { amount_microusd: microUsd });
}

/** The body of a refund, whose amount may be in USD. Throws 400. */
export function refundBodyOf(options: Options): RefundBody {
  const amount = amountOf(options, AMOUNT, 'usd');
  const others = without(options, AMOUNT, KEY);
  return sent(RefundBody, others, amount === undefined ? {} : { amount_microusd: amount });
}

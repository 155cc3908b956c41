import { type MicroUsd, MAX_MICRO_USD } from '../common/money/micro-usd.js';
import type { ModelRow } from './model-row.js';
import { priceOfTokens } from './price-rule.js';

/** More than the tokens of any prompt: each byte of a body counts as one, and each image of it as 4,096. */
const MOST_PROMPT_TOKENS = 2n ** 31n;
/** More than the seconds of any sound or song that can be asked for. */
const MOST_REQUESTED_SECONDS = 3_600n;

/**
 * Throws an Error that names the amount when the largest request of the row would cost more than one account may hold.
 * Such a call could not be priced. That bound is a ten-thousandth of what a column of the ledger holds.
 */
export function checkPriceFits(row: ModelRow): void {
  const tooLarge = largestCharges(row).find(([, amount]) => amount > MAX_MICRO_USD);
  if (tooLarge === undefined) return;
  const [name] = tooLarge;
  throw new Error(
    `price.${name} is too large: the largest request would cost more than ${MAX_MICRO_USD} micro-USD`,
  );
}

/** What the largest request costs by each amount of the price, under its name in the overlay. */
function largestCharges(row: ModelRow): readonly (readonly [string, MicroUsd])[] {
  const { price } = row;
  switch (price.unit) {
    case 'request':
      return [
        ['micro_usd', price.microUsd],
        ['max_mode_micro_usd', price.maxModeMicroUsd ?? 0n],
      ];
    case 'token': {
      const output = 'maxOutputTokens' in row.limits ? BigInt(row.limits.maxOutputTokens) : 0n;
      const ofPrompt = priceOfTokens(price, MOST_PROMPT_TOKENS, 0n);
      return [
        ['input_micro_usd_per_million', ofPrompt],
        ['output_micro_usd_per_million', ofPrompt + priceOfTokens(price, 0n, output)],
      ];
    }
    case 'video':
      return Object.entries(price.microUsdBySeconds).map(
        ([seconds, amount]) => [`by_seconds (${seconds})`, amount] as const,
      );
    case 'code_point':
    case 'measured_second':
    case 'requested_second':
      return [['micro_usd', price.microUsd * mostUnits(row)]];
  }
}

/** The code points or seconds of the largest request. */
function mostUnits({ limits }: ModelRow): bigint {
  if ('maxInput' in limits) return BigInt(limits.maxInput);
  if ('maxSeconds' in limits) return BigInt(limits.maxSeconds);
  return MOST_REQUESTED_SECONDS;
}

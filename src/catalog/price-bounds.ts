import { ceilDiv, type MicroUsd, MAX_MICRO_USD } from '../common/money/micro-usd.js';
import type { ModelRow } from './model-row.js';
import type { PerVideo } from './video-choices.js';
import { TOKENS_PER_PRICE } from '../common/money/price-lines.js';
import { INPUT_LINES, type PerToken, TOKEN_LINES, type TokenLine } from './token-price.js';

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

/** An amount of the price under its name in the overlay, and what the largest request costs by it. */
type Charge = readonly [name: string, amountMicroUsd: MicroUsd];

function largestCharges(row: ModelRow): readonly Charge[] {
  const { price } = row;
  switch (price.unit) {
    case 'request': {
      const most = 'maxN' in row.limits ? BigInt(row.limits.maxN ?? 1) : 1n;
      return [
        ['micro_usd', price.microUsd * most],
        ['max_mode_micro_usd', price.maxModeMicroUsd ?? 0n],
        ...(price.byQualitySize ?? []).map(({ quality, size, microUsd }): Charge => [
          `by_quality_size (${quality}, ${size})`,
          microUsd * most,
        ]),
      ];
    }
    case 'token':
      return chargesOfTokens(
        price,
        'maxOutputTokens' in row.limits ? row.limits.maxOutputTokens : 0,
      );
    case 'video':
      return chargesOfVideo(price);
    case 'code_point':
    case 'measured_second':
    case 'requested_second':
      return [['micro_usd', price.microUsd * mostUnits(row)]];
  }
}

/** The whole prompt by each of its lines, then each output beside the dearest of them. */
function chargesOfTokens(price: PerToken, maxOutputTokens: number): readonly Charge[] {
  const lists = [
    { prices: price, within: '' },
    ...(price.tiers ?? []).map((prices) => ({
      prices,
      within: `tiers (above ${prices.aboveInputTokens}): `,
    })),
  ];
  const ofLine = (line: TokenLine, tokens: bigint): Charge[] =>
    lists.flatMap(({ prices, within }): Charge[] => {
      const amount = prices[TOKEN_LINES[line]];
      if (amount === undefined) return [];
      const name = `${within}${line}_micro_usd_per_million`;
      return [[name, ceilDiv(amount * tokens, TOKENS_PER_PRICE)]];
    });
  const ofPrompt = INPUT_LINES.flatMap((line) => ofLine(line, MOST_PROMPT_TOKENS));
  const dearest = ofPrompt.reduce((most, [, amount]) => (amount > most ? amount : most), 0n);
  const ofOutput = ofLine('output', BigInt(maxOutputTokens));
  return [...ofPrompt, ...ofOutput.map(([name, amount]): Charge => [name, dearest + amount])];
}

function chargesOfVideo({ microUsdBySeconds, perSecond = [] }: PerVideo): readonly Charge[] {
  const longest = Object.keys(microUsdBySeconds)
    .map(BigInt)
    .reduce((a, b) => (a > b ? a : b), 0n);
  return [
    ...Object.entries(microUsdBySeconds).map(([seconds, amount]): Charge => [
      `by_seconds (${seconds})`,
      amount,
    ]),
    ...perSecond.map(({ resolution, microUsdPerSecond }): Charge => [
      `per_second (${resolution})`,
      microUsdPerSecond * longest,
    ]),
  ];
}

/** The code points or seconds of the largest request. */
function mostUnits({ limits }: ModelRow): bigint {
  if ('maxInput' in limits) return BigInt(limits.maxInput);
  if ('maxSeconds' in limits) return BigInt(limits.maxSeconds);
  return MOST_REQUESTED_SECONDS;
}

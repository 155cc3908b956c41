import type { TokenCounts } from '../common/money/charge-basis.js';
import { linesOf, type PriceLine } from '../common/money/price-lines.js';
import { type PerToken, pricesFor } from './token-price.js';

/** The lines of the tokens of one call by a rule, each with its price in the tier of the prompt. */
export function tokenLinesOf(rule: PerToken, quantity: TokenCounts): readonly PriceLine[] {
  const prices = pricesFor(rule, quantity.promptTokens);
  const unitPrice = {
    inputPerMillion: prices.inputMicroUsdPerMillion.toString(),
    cachedInputPerMillion: prices.cachedInputMicroUsdPerMillion.toString(),
    cacheWritePerMillion: prices.cacheWriteMicroUsdPerMillion.toString(),
    cacheWrite1hPerMillion: prices.cacheWrite1hMicroUsdPerMillion.toString(),
    imageInputPerMillion: prices.imageInputMicroUsdPerMillion.toString(),
    outputPerMillion: prices.outputMicroUsdPerMillion.toString(),
  };
  return linesOf({ unit: 'token', quantity, unitPrice });
}

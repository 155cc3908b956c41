import type { ModelRow } from '../catalog/model-row.js';
import { type PerToken, pricesFor } from '../catalog/token-price.js';
import type { ChargeBasis, TokenCounts, TokenPrices } from '../common/money/charge-basis.js';
import type { TokenUsage } from '../providers/ports/chat.port.js';

/**
 * Tokens of one call. With `isEstimated`, the tokens could not be counted in time and the numbers are upper bounds, or
 * a model with hidden reasoning reported no usage: the numbers are those of the text alone or, where it was left, the output cap.
 */
export interface CountedUsage extends TokenUsage {
  readonly isEstimated: boolean;
}

/**
 * The usage of a stream that was left and reported none until its deadline: the reasoning that nobody could see may have been all
 * that its output cap allows (decision G-24).
 */
export function assumedUsageOf(counted: CountedUsage, maxTokens: number): CountedUsage {
  return { ...counted, completionTokens: maxTokens, isEstimated: true };
}

/** How the charge is computed, for the record of the call. */
export function basisOf(row: Pick<ModelRow<'chat'>, 'price'>, usage: CountedUsage): ChargeBasis {
  const { isEstimated } = usage;
  const quantity = { ...countsOf(usage), ...(isEstimated && { isEstimated }) };
  const unitPrice = unitPricesOf(row.price, quantity);
  return { unit: 'token', quantity, unitPrice, isEstimated };
}

/** The tokens of the usage. The parts of the prompt are cut at the prompt, so that together they are at most the whole. */
export function countsOf(usage: TokenUsage): TokenCounts {
  let left = usage.promptTokens;
  const partOf = (tokens: number): number => {
    const part = Math.min(tokens, left);
    left -= part;
    return part;
  };
  const cachedTokens = usage.cachedTokens === null ? null : partOf(usage.cachedTokens);
  const cacheWrite1hTokens = partOf(usage.cacheWrite1hTokens ?? 0);
  const cacheWriteTokens = partOf(usage.cacheWriteTokens ?? 0);
  const imageTokens = partOf(usage.imageTokens ?? 0);
  return {
    promptTokens: usage.promptTokens,
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(cacheWrite1hTokens > 0 && { cacheWrite1hTokens }),
    ...(imageTokens > 0 && { imageTokens }),
    completionTokens: usage.completionTokens,
    reasoningTokens: usage.reasoningTokens,
  };
}

/** The prices of the tier that holds for the prompt; those of parts only where the call has tokens of them. */
export function unitPricesOf(rule: PerToken, counts: TokenCounts): TokenPrices {
  const prices = pricesFor(rule, counts.promptTokens);
  return {
    inputPerMillion: prices.inputMicroUsdPerMillion.toString(),
    ...(counts.cachedTokens && {
      cachedInputPerMillion: prices.cachedInputMicroUsdPerMillion.toString(),
    }),
    ...(counts.cacheWriteTokens && {
      cacheWritePerMillion: prices.cacheWriteMicroUsdPerMillion.toString(),
    }),
    ...(counts.cacheWrite1hTokens && {
      cacheWrite1hPerMillion: prices.cacheWrite1hMicroUsdPerMillion.toString(),
    }),
    ...(counts.imageTokens && {
      imageInputPerMillion: prices.imageInputMicroUsdPerMillion.toString(),
    }),
    outputPerMillion: prices.outputMicroUsdPerMillion.toString(),
  };
}

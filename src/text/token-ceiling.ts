import { factorOf } from '../catalog/price-factor.js';
import { dearestPrices, type PerToken } from '../catalog/token-price.js';
import { ceilDiv, type MicroUsd } from '../common/money/micro-usd.js';
import {
  type LineUnit,
  type PriceLine,
  TOKENS_PER_PRICE,
  WHOLE_PERMILLE,
} from '../common/money/price-lines.js';

/** Prices are for a million tokens, and factors are in thousandths. */
const SCALE = TOKENS_PER_PRICE * WHOLE_PERMILLE;

/**
 * The most that a call with one prompt may cost, by its output cap, and back (decisions G-23, G-106). Prompt and output
 * are priced at the dearest lines that the call can reach, times the factor of the account's price book, in fractions of a
 * micro-USD, so that only the sum is rounded.
 */
export class TokenCeiling {
  private constructor(
    private readonly prompt: bigint,
    private readonly perOutputToken: bigint,
    private readonly promptLine: PriceLine,
    private readonly outputPrice: MicroUsd,
  ) {}

  /** `promptTokens` is the over-estimate of the prompt. */
  static of(price: PerToken, promptTokens: number): TokenCeiling {
    const { inputMicroUsdPerMillion, outputMicroUsdPerMillion } = dearestPrices(
      price,
      promptTokens,
    );
    const factor = factorOf(price);
    const prompt = BigInt(promptTokens) * inputMicroUsdPerMillion * factor;
    const line = tokenLine('input', promptTokens, inputMicroUsdPerMillion);
    const perOutputToken = outputMicroUsdPerMillion * factor;
    return new TokenCeiling(prompt, perOutputToken, line, outputMicroUsdPerMillion);
  }

  /** The lines of {@link amountFor}, before the factor of a price book. */
  linesFor(outputTokens: number): readonly PriceLine[] {
    return [this.promptLine, tokenLine('output', outputTokens, this.outputPrice)];
  }

  /** The most that the call may cost with this output cap, rounded up to a whole micro-USD. */
  amountFor(outputTokens: number): MicroUsd {
    const output = BigInt(outputTokens) * this.perOutputToken;
    return ceilDiv(this.prompt + output, SCALE);
  }

  /**
   * The largest output cap, at most `most`, whose {@link amountFor} the amount covers. Negative where the amount does not
   * cover the prompt.
   */
  tokensFor(amount: MicroUsd, most: number): number {
    const left = amount * SCALE - this.prompt;
    if (left < 0n) return -1;
    if (left >= BigInt(most) * this.perOutputToken) return most;
    return Number(left / this.perOutputToken);
  }
}

function tokenLine(unit: LineUnit, quantity: number, unitPriceMicroUsd: MicroUsd): PriceLine {
  return { unit, quantity, unitPriceMicroUsd, per: 1_000_000 };
}

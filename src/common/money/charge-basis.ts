import type { MicroUsd } from './micro-usd.js';

/** What a charge is made of: the product of quantity and unit price is the charge. */
export interface ChargeBasis {
  readonly unit: 'code_point' | 'second' | 'request' | 'image' | 'token';
  readonly quantity: number | TokenCounts;
  /** Micro-USD per unit in digits, or per million of each kind of token. */
  readonly unitPrice: string | TokenPrices;
  /** Whether the quantity is an estimate because it could not be counted. */
  readonly isEstimated: boolean;
}

/** Tokens of one chat; cached and reasoning ones are parts of prompt and completion; null where not reported. */
export interface TokenCounts {
  readonly promptTokens: number;
  readonly cachedTokens: number | null;
  readonly completionTokens: number;
  readonly reasoningTokens: number | null;
}

/** Micro-USD per million tokens, in digits. */
export interface TokenPrices {
  readonly inputPerMillion: string;
  readonly outputPerMillion: string;
}

/** What is held for a call, and what its charge will be made of; null where only its end tells. */
export interface Quote {
  readonly amountMicroUsd: MicroUsd;
  readonly basis: ChargeBasis | null;
}

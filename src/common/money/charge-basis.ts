import type { MicroUsd } from './micro-usd.js';

/** How a charge is computed: quantity times unit price. */
export interface ChargeBasis {
  readonly unit: 'code_point' | 'second' | 'request' | 'image' | 'token';
  readonly quantity: number | TokenCounts;
  /** Micro-USD per unit in digits, or per million of each kind of token. */
  readonly unitPrice: string | TokenPrices;
  /** Whether the quantity is an estimate because it could not be counted. */
  readonly isEstimated: boolean;
}

/**
 * Tokens of one chat. Cached and reasoning tokens are part of the prompt and completion tokens; null where not
 * reported.
 */
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

/** The generated quantity of a call that is not charged, because the call broke (decision G-103). */
export type UnchargedQuantity = Pick<ChargeBasis, 'unit' | 'quantity'>;

/** The amount to hold for a call, and the basis of its charge; null if the basis is known only at the end. */
export interface Quote {
  readonly amountMicroUsd: MicroUsd;
  readonly basis: ChargeBasis | null;
}

/**
 * The cost of a call as the provider reported it: the names and values of its own fields or headers, unchanged, such as
 * `{"usage.cost": 0.0012}`, `{"character-cost": "120"}` or `{"quota": 3}`. Only operators see them.
 */
export type ProviderFigures = Readonly<Record<string, number | string>>;

/** The version of a price book by which a call or task is priced, as its record keeps it. */
export interface AppliedPriceBook {
  readonly id: string;
  readonly version: number;
  /** The part of the amount that is paid, in thousandths: 1000 where the book has a price of its own for the model. */
  readonly factorPermille: number;
}

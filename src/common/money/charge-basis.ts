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
 * Tokens of one chat. Cached, written and image tokens are parts of the prompt that exclude each other, reasoning is a
 * part of the completion; null or absent where not reported.
 */
export interface TokenCounts {
  readonly promptTokens: number;
  readonly cachedTokens: number | null;
  /** Written to the provider's cache for 5 minutes, and for an hour. */
  readonly cacheWriteTokens?: number;
  readonly cacheWrite1hTokens?: number;
  readonly imageTokens?: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number | null;
  /** Some of them are an estimate. Absent where all were counted, and in rows of version 0.1.0. */
  readonly isEstimated?: true;
}

/** Micro-USD per million tokens, in digits; those of the parts only where there are tokens of the part. */
export interface TokenPrices {
  readonly inputPerMillion: string;
  readonly cachedInputPerMillion?: string;
  readonly cacheWritePerMillion?: string;
  readonly cacheWrite1hPerMillion?: string;
  readonly imageInputPerMillion?: string;
  readonly outputPerMillion: string;
}

/** What of a request chooses one of several prices of its model. */
export interface PriceChoice {
  readonly maxMode?: boolean | undefined;
  /** The size and the quality of an image, as the request names them. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  /** The length of a video, as the request names it. */
  readonly seconds?: string | undefined;
  /** The resolution of a video, and whether it has sound. */
  readonly resolution?: string | undefined;
  readonly sound?: boolean | undefined;
}

/** The generated quantity of a call that is not charged, because the call broke (decision G-103). */
export type UnchargedQuantity = Pick<ChargeBasis, 'unit' | 'quantity'>;

/** Bounds of a hold that takes an eighth of what is available beside the prompt (decision G-106). */
export interface Fit {
  /** The least that is held. */
  readonly floorMicroUsd: MicroUsd;
  /** The price of the prompt. */
  readonly promptMicroUsd: MicroUsd;
}

/** The amount to hold for a call, and the basis of its charge. */
export interface Quote {
  /** What is held or, with `fit`, the most that is held. */
  readonly amountMicroUsd: MicroUsd;
  readonly fit?: Fit | undefined;
  /** Null if the basis is known only at the end. */
  readonly basis: ChargeBasis | null;
  readonly choice?: PriceChoice | undefined;
  /** The largest output cap that an amount pays for, in tokens; undefined if none. For chat only. */
  readonly outputCapFor?: ((amountMicroUsd: MicroUsd) => number | undefined) | undefined;
  /** The field in which the request names its output cap, or would. For chat only. */
  readonly outputCapField?: string | undefined;
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

/** What bound the amount of a fitted hold: the smallest of what is available, or the model's own cap. */
export type OutputCapReason = 'balance' | 'key' | 'run' | 'model';

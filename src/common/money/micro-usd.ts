import assert from 'node:assert/strict';

/** An amount of money in whole micro-USD (1 USD = 1,000,000). Never a float (API: Conventions). */
export type MicroUsd = bigint;

/**
 * Largest amount that one account may hold. It is far above any real balance and far below the limit of a 64-bit
 * column.
 */
export const MAX_MICRO_USD: MicroUsd = 1_000_000_000_000_000n;

const AMOUNT_TEXT = /^-?[0-9]{1,16}$/;

/**
 * Parses an amount from its wire form, a string of decimal digits with an optional leading minus. Returns undefined for
 * any other text and for amounts beyond {@link MAX_MICRO_USD}.
 */
export function parseMicroUsd(text: string): MicroUsd | undefined {
  if (!AMOUNT_TEXT.test(text)) return undefined;
  const amount = BigInt(text);
  const size = amount < 0n ? -amount : amount;
  return size <= MAX_MICRO_USD ? amount : undefined;
}

/** Whether the value is the wire form of an amount without a sign. */
export function isUnsignedAmount(value: unknown): boolean {
  return typeof value === 'string' && !value.startsWith('-') && parseMicroUsd(value) !== undefined;
}

/** The rule of {@link isUnsignedAmount}, as the end of a sentence. */
export const UNSIGNED_AMOUNT_RULE = `must be a string of digits, at most ${MAX_MICRO_USD}`;

/** The wire form of an amount: a string of digits (API: Conventions). */
export function formatMicroUsd(amount: MicroUsd): string {
  return amount.toString();
}

const MICRO_USD_PER_USD = 1_000_000;

/** The amount in USD as a JSON number. Its shortest decimal form is exact, because an amount has at most 15 digits. */
export function usdOf(amount: MicroUsd): number {
  // eslint-disable-next-line no-restricted-syntax -- shown only; no sum is made of it
  return Number(amount) / MICRO_USD_PER_USD;
}

/** `units` times a whole price per unit. Both are integers and not negative. */
export function multiply(unitPriceMicroUsd: MicroUsd, units: number | bigint): MicroUsd {
  assert(typeof units === 'bigint' || Number.isSafeInteger(units), 'units must be whole numbers');
  const amount = unitPriceMicroUsd * BigInt(units);
  assert(amount >= 0n && amount <= MAX_MICRO_USD, 'price is out of bounds');
  return amount;
}

/** Integer division rounded up; `divisor` is positive, `dividend` not negative. */
export function ceilDiv(dividend: bigint, divisor: bigint): bigint {
  assert(
    divisor > 0n && dividend >= 0n,
    'ceilDiv needs a dividend of at least 0 and a divisor above 0',
  );
  // eslint-disable-next-line no-restricted-syntax -- the one rounding of the house, exact in bigint
  return (dividend + divisor - 1n) / divisor;
}

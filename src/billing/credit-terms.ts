import type { MicroUsd } from '../common/money/micro-usd.js';

/** `granted` money was given, `paid` money was bought. Granted money is spent first. */
export const CREDIT_KINDS = ['paid', 'granted'] as const;
export type CreditKind = (typeof CREDIT_KINDS)[number];

/** What a credit is, beside its amount. */
export interface CreditTerms {
  readonly kind: CreditKind;
  /** When what is left of it expires; null: never. */
  readonly expiresAt: Date | null;
  /** What the payment is called elsewhere. */
  readonly paymentReference: string | null;
  /** The currency that was paid in, as ISO 4217 names it. */
  readonly currency: string | null;
  /** The tax in what was paid. */
  readonly taxMicroUsd: MicroUsd | null;
}

/** Most unspent credits of an account that were granted or expire: each end of a call looks through them. */
export const MAX_LOTS = 1_000;

/** The terms of a credit that names none. */
export const PAID: CreditTerms = {
  kind: 'paid',
  expiresAt: null,
  paymentReference: null,
  currency: null,
  taxMicroUsd: null,
};

/** The terms as parameters of `ledger_credit_v2`; a correction has none. */
export function termsAsParameters(terms: CreditTerms | null): unknown[] {
  if (terms === null) return [null, null, null, null, null];
  const { kind, expiresAt, paymentReference, currency, taxMicroUsd } = terms;
  return [kind, expiresAt, paymentReference, currency, taxMicroUsd?.toString() ?? null];
}

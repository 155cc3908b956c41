import { WHOLE_PERMILLE } from '../common/money/price-lines.js';

/** What every price rule may have. */
export interface Factored {
  /**
   * The part of an amount that an account pays by its price book, in thousandths, from 1 to 10,000; absent = the whole.
   * Unit prices stay as listed (decision G-30).
   */
  readonly factorPermille?: bigint;
}

/** The factor of a rule, in thousandths. */
export function factorOf({ factorPermille = WHOLE_PERMILLE }: Factored): bigint {
  return factorPermille;
}

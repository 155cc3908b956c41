import type { ChargeBasis } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';

/** What a call costs where that is not its quote. */
export interface Charge {
  /** From 0 to what is held. Default: all of it. */
  readonly chargedMicroUsd?: MicroUsd;
  /** Default: the basis of the quote. */
  readonly basis?: ChargeBasis;
  /** Whether the price was above the hold, so that only the hold is charged. */
  readonly isCapped?: boolean;
}

/** The charge is the quote. */
export const AS_QUOTED: Charge = {};

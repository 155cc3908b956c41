import { countOption, runOptions } from '../support/long-run.js';
import type { BuyOptions } from './paid-harness.js';

/** How a run was asked for. */
export interface CrashFlags extends Required<BuyOptions> {
  /** How many processes are killed; whole rounds of four. */
  readonly kills: number;
  /** An outage of the database in one of so many rounds. */
  readonly outageEvery: number;
}

const switched = { type: 'boolean', default: false } as const;

/**
 * The flags of `npm run test:crash`: 200 kills (`--kills N`) with an outage of the database in every fifth round (`--outage-every N`;
 * more outages make more debts); with `--runs` calls that name runs with limits, with `--fitted` calls that hold what fits, with
 * `--books` calls that a price book prices, with `--priced` chats by price books that change, paid with money of both kinds that
 * may expire; with `--more` the result is added to that of before. The run is refused where they cannot be followed.
 */
export function crashFlags(): CrashFlags & { readonly more: boolean } {
  const {
    kills,
    'outage-every': outageEvery,
    ...others
  } = runOptions({
    options: {
      kills: { type: 'string', default: '200' },
      'outage-every': { type: 'string', default: '5' },
      ...{ runs: switched, fitted: switched, books: switched, priced: switched, more: switched },
    },
  });
  return {
    kills: countOption('--kills', kills),
    outageEvery: countOption('--outage-every', outageEvery),
    ...others,
  };
}

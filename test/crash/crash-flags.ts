import { parseArgs } from 'node:util';
import type { BuyOptions } from './paid-harness.js';

/** How a run was asked for. */
export interface CrashFlags extends Required<BuyOptions> {
  /** How many processes are killed; whole rounds of four. */
  readonly kills: number;
  /** An outage of the database in one of so many rounds. */
  readonly outageEvery: number;
}

const MOST = 1_000_000;
const switched = { type: 'boolean', default: false } as const;

/**
 * The flags of `npm run test:crash`: 200 kills (`--kills N`) with an outage of the database in every fifth round (`--outage-every N`;
 * more outages make more debts); with `--runs` calls that name runs with limits, with `--fitted` calls that hold what fits, with
 * `--books` calls that a price book prices, with `--priced` chats by price books that change, paid with money of both kinds that
 * may expire; with `--more` the result is added to that of before. A sentence where they cannot be followed.
 */
export function crashFlagsOf(
  argv: readonly string[],
): (CrashFlags & { readonly more: boolean }) | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        kills: { type: 'string', default: '200' },
        'outage-every': { type: 'string', default: '5' },
        ...{ runs: switched, fitted: switched, books: switched, priced: switched, more: switched },
      },
    });
    const { kills, 'outage-every': outageEvery, ...others } = values;
    return {
      kills: countOf('--kills', kills),
      outageEvery: countOf('--outage-every', outageEvery),
      ...others,
    };
  } catch (error) {
    return (error as Error).message;
  }
}

function countOf(flag: string, text: string): number {
  const count = /^[1-9]\d{0,6}$/.test(text) ? Number(text) : MOST + 1;
  if (count <= MOST) return count;
  throw new Error(`${flag} takes a whole number from 1 to ${MOST}, not "${text}".`);
}

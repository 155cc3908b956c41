/**
 * The sums of costs in usage, by the names of their columns: micro-USD, as far as they are known; how many calls that succeeded
 * have a known cost; how many calls were charged less than they cost.
 */
export const COST_SUMS = ['cost', 'costed', 'below_cost'] as const;
export type CostSum = (typeof COST_SUMS)[number];

/** What a group of calls cost and left; null where it is not known. */
interface Margin {
  /** The known costs. */
  readonly costMicroUsd: bigint | null;
  /** What was charged, less what was given back and the cost; null unless the cost of every call that succeeded is known. */
  readonly marginMicroUsd: bigint | null;
  /** How many calls that succeeded have a known cost. */
  readonly costKnownCalls: number;
}

/** The parts of a row of usage from which its margin follows. */
type CostedRow = Readonly<Record<'calls' | 'failures' | 'charged' | 'cost' | 'costed', string>>;

/** The margin of a row. Failed calls cost what their providers said, which is nothing where they said nothing. */
export function marginOf({ calls, failures, charged, cost, costed }: CostedRow): Margin {
  const known = Number(costed);
  const isWhole = known === Number(calls) - Number(failures);
  const costMicroUsd = isWhole || known > 0 || BigInt(cost) > 0n ? BigInt(cost) : null;
  return {
    costMicroUsd,
    marginMicroUsd: isWhole ? BigInt(charged) - BigInt(cost) : null,
    costKnownCalls: Math.max(0, known),
  };
}

import { Clock } from '../../src/common/time/clock.js';
import { executionBatcher } from '../../src/billing/calls/execution-batcher.js';
import { LOCKED } from '../../src/platform/database/batching/batcher-options.js';

/** How long an item of these tests may wait, by the clock of {@link groupOver}. */
export const PATIENCE = { patienceMs: 1_000, isEnd: false };

class ManualClock extends Clock {
  ms = 0;
  nowMs(): number {
    return this.ms;
  }
}

/** An error after which a statement is tried again, and whose statement may have been committed. */
export class Contention extends Error {
  readonly code: string = 'ECONNRESET';
}

/** The same, of a statement that was rolled back. */
export class RolledBack extends Contention {
  override readonly code = '40P01';
}

/** A number to commit for an account. */
export interface Item {
  readonly accountId: string;
  readonly n: number;
}

/** An item of `accountId`. */
export const itemOf = (accountId: string, n: number): Item => ({ accountId, n });

/** 0 to `length` - 1. */
export const numbers = (length: number) => Array.from({ length }, (_, n) => n);

/** One turn of the event loop. */
export const tick = () => new Promise((resolve) => setImmediate(resolve));

type Command = Item & typeof PATIENCE;

/** The ledger's batcher, whose statements `commit` answers, `undefined` for a locked account; `batches` lists the items of each. */
export function groupOver(
  commit: (items: readonly Item[], waits: boolean) => Promise<(number | undefined)[]>,
) {
  const batches: number[][] = [];
  const clock = new ManualClock();
  const batcher = executionBatcher<Command, number>({
    execute: async (items, waits) => {
      batches.push(items.map((item) => item.n));
      const results = await commit(items, waits);
      return results.map((result) => result ?? LOCKED);
    },
    isEnd: ({ isEnd }) => isEnd,
    patienceMsOf: ({ patienceMs }) => patienceMs,
    nowMs: () => clock.nowMs(),
  });
  const submit = (item: Item, terms: typeof PATIENCE) => batcher.run({ ...item, ...terms });
  return { group: { submit, ready: batcher.ready }, batches, clock };
}

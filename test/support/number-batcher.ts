import { Clock } from '../../src/common/time/clock.js';
import { GroupCommit } from '../../src/billing/calls/group-commit.js';

/** How long an item of these tests may wait, by the clock of {@link groupOver}. */
export const PATIENCE = { patienceMs: 1_000, isEnd: false };

class ManualClock extends Clock {
  ms = 0;
  nowMs(): number {
    return this.ms;
  }
}

/** An error after which a statement is tried again, and whose statement may have been committed. */
export class Contention extends Error {}

/** The same, of a statement that was rolled back. */
export class RolledBack extends Contention {}

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

/** A group commit whose statements `commit` answers; `batches` lists the items of each. */
export function groupOver(
  commit: (items: readonly Item[], waits: boolean) => Promise<(number | undefined)[]>,
) {
  const batches: number[][] = [];
  const clock = new ManualClock();
  const group = new GroupCommit<Item, number>({
    commit: (items, waits) => {
      batches.push(items.map((item) => item.n));
      return commit(items, waits);
    },
    isTransient: (error) => error instanceof Contention,
    isRolledBack: (error) => error instanceof RolledBack,
    clock,
  });
  return { group, batches, clock };
}

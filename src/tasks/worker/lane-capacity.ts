import { BucketCounts } from '../../platform/fairness/bucket-counts.js';
import { LANE_CONCURRENCY, laneOf, SHARE_OF_FREE, stepOf } from '../task-lane.js';
import type { AccountUse, ClaimedWork } from './task-work.repository.js';

/** Accounts below this share of a lane are left out of a claim and count as 0, which keeps the list short. */
const SMALL_SHARE = 1 / 16;

/**
 * Counts running steps by lane and account, for the limits of lanes and the shares of accounts. The limits are applied by
 * the claim in the database, so this class rejects nothing.
 */
export class LaneCapacity {
  /** The running steps of each lane, by account. No lane is empty. */
  private readonly lanes = new Map<string, BucketCounts>();

  /** Free capacity of the lanes with running steps. */
  available(): Map<string, number> {
    return new Map([...this.lanes].map(([name, lane]) => [name, availableIn(name, lane)]));
  }

  /** Accounts that use more than {@link SMALL_SHARE} of a lane. */
  inUse(): AccountUse[] {
    return [...this.lanes].flatMap(([lane, steps]) => {
      const small = LANE_CONCURRENCY[stepOf(lane)] * SMALL_SHARE;
      return steps
        .entries()
        .filter(([, count]) => count > small)
        .map(([accountId, count]) => ({ lane, accountId, count }));
    });
  }

  /** Running steps in the lane. */
  inUseOf(lane: string): number {
    return this.lanes.get(lane)?.total ?? 0;
  }

  /** Lanes that are full or in which an account has used its share, so that more may be due than was claimed. */
  usedUp(): string[] {
    return [...this.lanes]
      .filter(([name, steps]) => steps.most >= SHARE_OF_FREE * availableIn(name, steps))
      .map(([name]) => name);
  }

  acquire({ phase, task }: ClaimedWork): void {
    const name = laneOf(phase, task);
    const steps = this.lanes.get(name) ?? new BucketCounts();
    this.lanes.set(name, steps);
    steps.add(task.accountId);
  }

  release({ phase, task }: ClaimedWork): void {
    const name = laneOf(phase, task);
    const steps = this.lanes.get(name);
    steps?.add(task.accountId, -1);
    if (steps?.total === 0) this.lanes.delete(name);
  }

  /** A snapshot that does not change with this object. */
  copy(): LaneCapacity {
    const copy = new LaneCapacity();
    for (const [name, steps] of this.lanes) copy.lanes.set(name, steps.copy());
    return copy;
  }
}

function availableIn(name: string, steps: BucketCounts): number {
  return LANE_CONCURRENCY[stepOf(name)] - steps.total;
}

import { LANE_CONCURRENCY, laneOf, SHARE_OF_FREE, stepOf } from '../task-lane.js';
import type { AccountUse, ClaimedWork } from './task-work.repository.js';

/** Accounts below this share of a lane are left out of a claim and count as 0, which keeps the list short. */
const SMALL_SHARE = 1 / 16;

interface Lane {
  inUse: number;
  readonly byAccount: Map<string, number>;
}

/** Counts running steps by lane and account, for the limits of lanes and the shares of accounts. */
export class LaneCapacity {
  private readonly lanes = new Map<string, Lane>();

  /** Free capacity of the lanes with running steps. */
  available(): Map<string, number> {
    return new Map([...this.lanes].map(([name, lane]) => [name, availableIn(name, lane)]));
  }

  /** Accounts that use more than {@link SMALL_SHARE} of a lane. */
  inUse(): AccountUse[] {
    return [...this.lanes].flatMap(([lane, { byAccount }]) => {
      const small = LANE_CONCURRENCY[stepOf(lane)] * SMALL_SHARE;
      return [...byAccount]
        .filter(([, count]) => count > small)
        .map(([accountId, count]) => ({ lane, accountId, count }));
    });
  }

  /** Running steps in the lane. */
  inUseOf(lane: string): number {
    return this.lanes.get(lane)?.inUse ?? 0;
  }

  /** Lanes that are full or in which an account has used its share, so that more may be due than was claimed. */
  usedUp(): string[] {
    return [...this.lanes]
      .filter(([name, lane]) => {
        const most = Math.max(...lane.byAccount.values());
        return most >= SHARE_OF_FREE * availableIn(name, lane);
      })
      .map(([name]) => name);
  }

  acquire({ phase, task }: ClaimedWork): void {
    const name = laneOf(phase, task.provider);
    const lane = this.lanes.get(name) ?? { inUse: 0, byAccount: new Map<string, number>() };
    this.lanes.set(name, lane);
    lane.inUse += 1;
    lane.byAccount.set(task.accountId, (lane.byAccount.get(task.accountId) ?? 0) + 1);
  }

  release({ phase, task }: ClaimedWork): void {
    const name = laneOf(phase, task.provider);
    const lane = this.lanes.get(name);
    if (!lane) return;
    lane.inUse -= 1;
    const count = (lane.byAccount.get(task.accountId) ?? 1) - 1;
    if (count === 0) lane.byAccount.delete(task.accountId);
    else lane.byAccount.set(task.accountId, count);
    if (lane.inUse === 0) this.lanes.delete(name);
  }

  /** A snapshot that does not change with this object. */
  copy(): LaneCapacity {
    const copy = new LaneCapacity();
    for (const [name, { inUse, byAccount }] of this.lanes) {
      copy.lanes.set(name, { inUse, byAccount: new Map(byAccount) });
    }
    return copy;
  }
}

function availableIn(name: string, { inUse }: Lane): number {
  return LANE_CONCURRENCY[stepOf(name)] - inUse;
}

import { LANE_CONCURRENCY, laneOf, SHARE_OF_FREE, stepOf } from '../task-lane.js';
import type { ClaimedWork, Holding } from './task-work.repository.js';

/** A claim names the accounts that have more than this part of a lane. The others count as if they had none, which keeps the list short. */
const SMALL_PART = 1 / 16;

interface Lane {
  taken: number;
  readonly byAccount: Map<string, number>;
}

/** Counts the steps under way, so that no lane runs too many and no account uses up a lane. */
export class LaneCapacity {
  private readonly lanes = new Map<string, Lane>();

  /** Free places in the lanes that have work under way. */
  available(): Map<string, number> {
    return new Map([...this.lanes].map(([name, lane]) => [name, roomOf(name, lane)]));
  }

  /** The accounts that have more than a small part of a lane. */
  inUse(): Holding[] {
    return [...this.lanes].flatMap(([lane, { byAccount }]) => {
      const small = LANE_CONCURRENCY[stepOf(lane)] * SMALL_PART;
      return [...byAccount]
        .filter(([, places]) => places > small)
        .map(([accountId, places]) => ({ lane, accountId, places }));
    });
  }

  /** Steps under way in the lane. */
  takenOf(lane: string): number {
    return this.lanes.get(lane)?.taken ?? 0;
  }

  /** Lanes that are full, or of which an account has its whole share, so that more may be due than was claimed. */
  usedUp(): string[] {
    return [...this.lanes]
      .filter(([name, lane]) => {
        const most = Math.max(...lane.byAccount.values());
        return most >= SHARE_OF_FREE * roomOf(name, lane);
      })
      .map(([name]) => name);
  }

  acquire({ phase, task }: ClaimedWork): void {
    const name = laneOf(phase, task.provider);
    const lane = this.lanes.get(name) ?? { taken: 0, byAccount: new Map<string, number>() };
    this.lanes.set(name, lane);
    lane.taken += 1;
    lane.byAccount.set(task.accountId, (lane.byAccount.get(task.accountId) ?? 0) + 1);
  }

  release({ phase, task }: ClaimedWork): void {
    const name = laneOf(phase, task.provider);
    const lane = this.lanes.get(name);
    if (!lane) return;
    lane.taken -= 1;
    const places = (lane.byAccount.get(task.accountId) ?? 1) - 1;
    if (places === 0) lane.byAccount.delete(task.accountId);
    else lane.byAccount.set(task.accountId, places);
    if (lane.taken === 0) this.lanes.delete(name);
  }

  /** A copy that later changes of this one leave alone. */
  copy(): LaneCapacity {
    const copy = new LaneCapacity();
    for (const [name, { taken, byAccount }] of this.lanes) {
      copy.lanes.set(name, { taken, byAccount: new Map(byAccount) });
    }
    return copy;
  }
}

function roomOf(name: string, { taken }: Lane): number {
  return LANE_CONCURRENCY[stepOf(name)] - taken;
}

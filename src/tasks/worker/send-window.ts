import type { Clock } from '../../common/time/clock.js';
import { LEASE_MS } from '../task-lane.js';

/** A submission leaves at most this long after its lease was last confirmed: 10 s before another process may take the task. */
export const SEND_WINDOW_MS = LEASE_MS - 10_000;

/** A moment by two clocks: the first stands still with the machine, the second may be set. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The present moment. */
export function momentBy(clock: Clock): Moment {
  return { monotonicMs: performance.now(), wallMs: clock.nowMs() };
}

/**
 * How long a worker may still send the submission of a task. A process that was suspended may wake after another one took the task
 * over, looked its job up and ended it: what it sent then would be made and not paid. So each request of a submission asks
 * {@link isOpen} as the last thing before its first byte is written.
 *
 * What remains: a process that is suspended between that question and the write, which are one turn of the event loop, or while
 * the kernel holds the bytes. Look-ups of the job go on for minutes after that, an unknown outcome keeps its hold, and the id of a
 * job that is accepted late is stored with the task.
 */
export class SendWindow {
  /** `confirmed`: before the statement was sent by which the task was claimed. */
  constructor(
    private readonly clock: Clock,
    private confirmed: Moment,
  ) {}

  /** The present moment, which is taken before a statement that sets the lease is sent. */
  now(): Moment {
    return momentBy(this.clock);
  }

  /** The database has set the lease anew, by a statement that was sent at this moment. */
  confirmedAt(moment: Moment): void {
    this.confirmed = moment;
  }

  get isOpen(): boolean {
    const { monotonicMs, wallMs } = this.now();
    const monotonic = monotonicMs - this.confirmed.monotonicMs;
    return Math.max(monotonic, wallMs - this.confirmed.wallMs) < SEND_WINDOW_MS;
  }
}

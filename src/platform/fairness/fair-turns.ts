import { setImmediate as nextTurn } from 'node:timers/promises';
import { RoundRobinQueue } from './round-robin-queue.js';

/**
 * Runs at most `atOnce` pieces of work at the same time. The others wait, one fairness bucket (an account) after the other, and the
 * event loop has a turn before each.
 */
export class FairTurns {
  private readonly waiting = new RoundRobinQueue<() => void>();
  private running = 0;

  constructor(private readonly atOnce: number) {}

  /** The result of the work, once it has had its turn. */
  async run<T>(bucket: string, work: () => Promise<T>): Promise<T> {
    if (this.running >= this.atOnce) {
      await new Promise<void>((resolve) => {
        this.waiting.add(bucket, resolve);
      });
    } else this.running += 1;
    try {
      return await work();
    } finally {
      void this.passOn();
    }
  }

  /** Gives the turn of work that has ended to the next one. */
  private async passOn(): Promise<void> {
    await nextTurn();
    const next = this.waiting.next();
    if (next === undefined) this.running -= 1;
    else next();
  }
}

import type { RequestPriority } from './request-priority.js';

/** Requests that begin in one turn of the event loop. */
const BEGUN_PER_TURN = 16;

/**
 * Begins a few requests per turn of the event loop and the rest in the next turns, in the order of their lane; lanes that
 * wait take turns. Requests of a thousand connections may arrive in one turn. If all began at once, timers, answers and
 * settlements would wait for all of them.
 */
export class EventLoopPacer {
  private begun = 0;
  private readonly waiting: Readonly<Record<RequestPriority, (() => void)[]>> = {
    calls: [],
    reads: [],
    others: [],
  };

  /** Whether one more request may begin now; counts it if so. If not, it has to wait. */
  mayBegin(): boolean {
    if (this.begun >= BEGUN_PER_TURN) return false;
    if (this.begun === 0) setImmediate(this.nextTurn);
    this.begun += 1;
    return true;
  }

  /** Calls `begin` in a later turn. */
  wait(begin: () => void, lane: RequestPriority = 'others'): void {
    this.waiting[lane].push(begin);
  }

  private readonly nextTurn = (): void => {
    const next = this.take();
    // Those that come before the next turn wait behind these.
    this.begun = next.length === 0 ? 0 : BEGUN_PER_TURN;
    if (next.length === 0) return;
    // An error of one request must not stop the others.
    for (const begin of next) setImmediate(begin);
    setImmediate(this.nextTurn);
  };

  /** The next of each lane in turns. */
  private take(): (() => void)[] {
    const lanes = Object.values(this.waiting);
    const taken: (() => void)[] = [];
    for (;;) {
      const before = taken.length;
      for (const lane of lanes) {
        if (taken.length === BEGUN_PER_TURN) return taken;
        const begin = lane.shift();
        if (begin) taken.push(begin);
      }
      if (taken.length === before) return taken;
    }
  }
}

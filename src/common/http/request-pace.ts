/** Requests that begin in one turn of the event loop. */
const BEGUN_PER_TURN = 16;

/**
 * Begins a few requests per turn of the event loop and the rest in the next turns, in their order. Requests of a thousand
 * connections may arrive in one turn. If all began at once, timers, answers and settlements would wait for all of them.
 */
export class RequestPace {
  private begun = 0;
  private readonly waiting: (() => void)[] = [];

  /** Calls `begin` now or in a later turn. */
  run(begin: () => void): void {
    if (this.begun >= BEGUN_PER_TURN) {
      this.waiting.push(begin);
      return;
    }
    if (this.begun === 0) setImmediate(this.nextTurn);
    this.begun += 1;
    begin();
  }

  private readonly nextTurn = (): void => {
    const next = this.waiting.splice(0, BEGUN_PER_TURN);
    // Those that come before the next turn wait behind these.
    this.begun = next.length === 0 ? 0 : BEGUN_PER_TURN;
    if (next.length === 0) return;
    // An error of one request must not stop the others.
    for (const begin of next) setImmediate(begin);
    setImmediate(this.nextTurn);
  };
}

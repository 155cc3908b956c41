/** Requests that begin in one turn of the event loop. */
const BEGUN_PER_TURN = 16;

/**
 * Begins a few requests per turn of the event loop, the rest in the next turns, in their order. Requests of a thousand
 * connections may come in one turn: begun at once, they would hold up timers, answers and money for as long as all take.
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
    this.begun = next.length;
    if (next.length === 0) return;
    // Each by itself: what one of them throws is not the others' trouble.
    for (const begin of next) setImmediate(begin);
    setImmediate(this.nextTurn);
  };
}

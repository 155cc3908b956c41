/** Large events of all streams together that are relayed in one turn of the event loop. */
const PER_TURN = 2;

/**
 * Lets a few large events through per turn of the event loop and the rest in the next turns, in their order. Otherwise
 * hundreds of streams whose providers send faster than models write would delay all other callers by seconds.
 */
export class RelayPace {
  private relayed = 0;
  private readonly waiting: (() => void)[] = [];

  /** Returns a promise of a later turn if this one has had enough; the promise never rejects. */
  turn(): Promise<void> | undefined {
    if (this.relayed >= PER_TURN) {
      return new Promise((resolve) => {
        this.waiting.push(resolve);
      });
    }
    if (this.relayed === 0) setImmediate(this.nextTurn);
    this.relayed += 1;
    return undefined;
  }

  private readonly nextTurn = (): void => {
    const next = this.waiting.splice(0, PER_TURN);
    this.relayed = next.length;
    if (next.length === 0) return;
    setImmediate(this.nextTurn);
    for (const goOn of next) goOn();
  };
}

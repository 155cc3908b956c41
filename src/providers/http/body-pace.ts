/** Bytes that the answers of all providers together give in one turn of the event loop: two to four reads of a socket. */
const BYTES_PER_TURN = 128 * 1024;
/** What a socket gives at once at most, as a rule. */
const READ_BYTES = 64 * 1024;

/**
 * Shares each turn of the event loop among the answers that providers are sending. Otherwise hundreds of providers that
 * send faster than models write delay all other callers by seconds: an ordinary call needs some ten turns.
 */
export class BodyPace {
  private takenBytes = 0;
  private isCounting = false;
  private readonly waiting: (() => void)[] = [];

  /** Counts bytes that were read. False when the rest of the answer has to {@link wait}. */
  take(bytes: number): boolean {
    if (!this.isCounting) {
      this.isCounting = true;
      setImmediate(this.nextTurn);
    }
    this.takenBytes += bytes;
    return this.takenBytes < BYTES_PER_TURN;
  }

  /** Calls back in a later turn, in the order of the calls. */
  wait(goOn: () => void): void {
    this.waiting.push(goOn);
  }

  private readonly nextTurn = (): void => {
    const next = this.waiting.splice(0, BYTES_PER_TURN / READ_BYTES);
    // Counted before they read, so that each reads once and waits again, also when its bytes come later in this turn.
    this.takenBytes = next.length * READ_BYTES;
    this.isCounting = next.length > 0;
    if (!this.isCounting) return;
    setImmediate(this.nextTurn);
    for (const goOn of next) goOn();
  };
}

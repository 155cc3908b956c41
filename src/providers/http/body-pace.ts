import { RoundRobinQueue } from '../../platform/fairness/round-robin-queue.js';

/** Bytes that the answers of all providers together give in one turn of the event loop: two to four reads of a socket. */
const BYTES_PER_TURN = 128 * 1024;
/** What a socket gives at once at most, as a rule. */
const READ_BYTES = 64 * 1024;

/**
 * Shares each turn of the event loop among the answers that providers are sending. Otherwise hundreds of providers that
 * send faster than models write delay all other callers by seconds: an ordinary call needs some ten turns. Accounts take
 * turns, so that the answers of one, however many, delay each answer of another by one read at a time.
 */
export class BodyPace {
  private takenBytes = 0;
  private isCounting = false;
  private readonly waiting = new RoundRobinQueue<() => void>();

  /** Counts bytes that were read. False when the rest of the answer has to {@link wait}. */
  take(bytes: number): boolean {
    if (!this.isCounting) {
      this.isCounting = true;
      setImmediate(this.nextTurn);
    }
    this.takenBytes += bytes;
    return this.takenBytes < BYTES_PER_TURN;
  }

  /** Calls back in a later turn. The account is the one whose answer it is. */
  wait(accountId: string, goOn: () => void): void {
    this.waiting.add(accountId, goOn);
  }

  private readonly nextTurn = (): void => {
    const next = this.takeNext();
    // Counted before they read, so that each reads once and waits again, also when its bytes come later in this turn.
    this.takenBytes = next.length * READ_BYTES;
    this.isCounting = next.length > 0;
    if (!this.isCounting) return;
    setImmediate(this.nextTurn);
    for (const goOn of next) goOn();
  };

  private takeNext(): (() => void)[] {
    const next: (() => void)[] = [];
    while (next.length < BYTES_PER_TURN / READ_BYTES) {
      const goOn = this.waiting.next();
      if (goOn === undefined) break;
      next.push(goOn);
    }
    return next;
  }
}

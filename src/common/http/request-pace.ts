/** Requests that begin in one turn of the event loop. */
const BEGUN_PER_TURN = 16;
/**
 * When requests were left waiting for so long, in so many turns in a row, more keeps coming than this process can do. A
 * crowd that comes once, or a process that stood still, is not that.
 */
const CROWDED_MS = 1_000;
const CROWDED_TURNS = 64;
/** Then no request begins that has waited for longer. It is refused. */
const MAX_WAIT_MS = 30;
/** Refused in one turn. */
const REFUSED_PER_TURN = 256;

/** Wait when none of those that wait may begin. */
const NO_ROOM_PAUSE_MS = 1;

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (() => void) | undefined;
  readonly sinceMs: number;
}

/**
 * Begins a few requests per turn of the event loop and the rest in the next turns, in their order. Requests of a thousand
 * connections may arrive in one turn. If all began at once, timers, answers and settlements would wait for all of them.
 * When requests keep coming faster than they can begin, those that have waited for too long are refused instead, so that
 * the others are served soon (decision G-100). A crowd that comes once is served whole.
 */
export class RequestPace {
  private begun = 0;
  private crowdedTurns = 0;
  private crowdedSinceMs = 0;
  private readonly waiting: Waiting[] = [];

  /** How many of the requests that may be refused may begin now; asked only while there is too much to do. */
  room: () => number = () => BEGUN_PER_TURN;

  /** @param nowMs a time that only grows */
  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Calls `begin` now or in a later turn; or `refuse`, if there is one, when there is too much to do. */
  run(begin: () => void, refuse?: () => void): void {
    if (this.begun >= BEGUN_PER_TURN) {
      this.waiting.push({ begin, refuse, sinceMs: this.nowMs() });
      return;
    }
    if (this.begun === 0) setImmediate(this.nextTurn);
    this.begun += 1;
    begin();
  }

  private readonly nextTurn = (): void => {
    const isCrowded = this.isCrowded();
    if (isCrowded) this.refuseLate();
    const next = this.take(isCrowded ? this.room() : BEGUN_PER_TURN);
    if (this.crowdedTurns === 0) this.crowdedSinceMs = this.nowMs();
    this.crowdedTurns = this.waiting.length === 0 ? 0 : this.crowdedTurns + 1;
    const isIdle = next.length + this.waiting.length === 0;
    // Those that come before the next turn wait behind these.
    this.begun = isIdle ? 0 : BEGUN_PER_TURN;
    if (isIdle) return;
    // An error of one request must not stop the others.
    for (const { begin } of next) setImmediate(begin);
    if (next.length > 0) setImmediate(this.nextTurn);
    else setTimeout(this.nextTurn, NO_ROOM_PAUSE_MS);
  };

  private isCrowded(): boolean {
    return this.crowdedTurns > CROWDED_TURNS && this.nowMs() - this.crowdedSinceMs > CROWDED_MS;
  }

  /** The next requests in their order, with at most `room` of those that may be refused. */
  private take(room: number): Waiting[] {
    const first = this.waiting.splice(0, BEGUN_PER_TURN);
    const refusable = first.filter(({ refuse }) => refuse !== undefined);
    const left = new Set(refusable.slice(Math.max(0, room)));
    this.waiting.unshift(...left);
    return first.filter((request) => !left.has(request));
  }

  private refuseLate(): void {
    const latestMs = this.nowMs() - MAX_WAIT_MS;
    const isLate = ({ sinceMs }: Waiting): boolean => sinceMs < latestMs;
    const late = this.waiting.slice(0, REFUSED_PER_TURN).filter(isLate);
    const rest = this.waiting.splice(0, late.length).filter(({ refuse }) => refuse === undefined);
    this.waiting.unshift(...rest);
    for (const { refuse } of late) refuse?.();
  }
}

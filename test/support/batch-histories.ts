import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';

/** A call of a history. Times are in turns of its simulation. */
export interface HistoryCall {
  readonly id: number;
  readonly account: string;
  readonly atTurn: number;
  readonly isUrgent: boolean;
  /** The database refuses any statement with it. */
  readonly isBad: boolean;
  readonly patienceTurns: number;
}

/** What fails: the statement was rolled back, did not arrive, or broke off before or after its commit. */
type Fault = 'aborted' | 'unavailable' | 'lost' | 'answer lost';

/** What happens to a batcher: calls, locks of other transactions, and faults of the database. */
export interface History {
  readonly calls: readonly HistoryCall[];
  readonly locks: readonly {
    readonly account: string;
    readonly from: number;
    readonly turns: number;
  }[];
  /** By the number of the statement. */
  readonly faults: ReadonlyMap<number, Fault>;
  /** Turns that each statement takes, in rotation. */
  readonly durations: readonly number[];
}

/** How often something happens in the histories. */
interface Kinds {
  readonly bad: boolean;
  readonly faults: boolean;
  /** Longest lock, in turns. */
  readonly lockTurns: number;
  readonly impatient?: boolean;
}

/** Longer than any history, in turns. */
const PATIENT = 1_000_000_000;
const ACCOUNTS = ['a', 'b', 'c', 'd'];
const CODE: Readonly<Record<Fault | 'bad' | 'locked', string>> = {
  aborted: '40P01',
  unavailable: 'ECONNREFUSED',
  lost: 'ECONNRESET',
  'answer lost': 'ECONNRESET',
  bad: '23514',
  locked: '55P03',
};

/** Histories of up to 40 calls for four accounts. */
export function histories({
  bad,
  faults,
  lockTurns,
  impatient = false,
}: Kinds): fc.Arbitrary<History> {
  const account = fc.constantFrom(...ACCOUNTS);
  const call = fc.record({
    account,
    atTurn: fc.nat(30),
    isUrgent: fc.boolean(),
    isBad: bad ? fc.integer({ min: 0, max: 9 }).map((n) => n === 0) : fc.constant(false),
    patienceTurns: impatient ? fc.constantFrom(PATIENT, 2, 8, 20) : fc.constant(PATIENT),
  });
  const fault = fc.constantFrom<Fault>('aborted', 'unavailable', 'lost', 'answer lost');
  return fc.record({
    calls: fc
      .array(call, { minLength: 1, maxLength: 40, size: 'max' })
      .map((calls) => calls.sort((a, b) => a.atTurn - b.atTurn).map((one, id) => ({ id, ...one }))),
    locks: fc.array(fc.record({ account, from: fc.nat(30), turns: fc.nat(lockTurns) }), {
      maxLength: 4,
    }),
    faults: fc
      .array(fc.tuple(fc.nat(12), fault), { maxLength: faults ? 3 : 0 })
      .map((list) => new Map(list)),
    durations: fc.array(fc.nat(3), { minLength: 1, maxLength: 8 }),
  });
}

/** A statement that began. */
interface Statement {
  readonly calls: readonly HistoryCall[];
  readonly waits: boolean;
}

/** The number that the database answers to a call. */
export const answerTo = ({ id }: HistoryCall): number => id * 2;

/** A statement of a shared batch waits this long for a lock, one of a single account this long, in turns. */
const LOCK_TIMEOUT = { shared: 3, own: 40 };

/** The database of a history. It commits a call once and answers it again in the same way. */
export class SimulatedDatabase {
  turn = 0;
  readonly statements: Statement[] = [];
  readonly committed: HistoryCall[] = [];
  running = 0;
  mostRunning = 0;

  constructor(private readonly history: History) {}

  /** Runs a statement; calls of locked accounts are skipped, and answered with `locked`. */
  async skipping<T>(
    calls: readonly HistoryCall[],
    waits: boolean,
    locked: T,
  ): Promise<(number | T)[]> {
    return this.statement(calls, waits, async () => {
      while (waits && calls.some((call) => this.isLocked(call))) await nextTurn();
      const free = calls.filter((call) => !this.isLocked(call));
      this.commit(free);
      return calls.map((call) => (free.includes(call) ? answerTo(call) : locked));
    });
  }

  /** Runs a statement that waits for locks, and is rolled back when that takes too long. */
  async waiting(calls: readonly HistoryCall[], waits: boolean): Promise<number[]> {
    return this.statement(calls, waits, async () => {
      const untilTurn = this.turn + (waits ? LOCK_TIMEOUT.own : LOCK_TIMEOUT.shared);
      while (calls.some((call) => this.isLocked(call))) {
        if (this.turn >= untilTurn) throw failure('locked');
        await nextTurn();
      }
      this.commit(calls);
      return calls.map(answerTo);
    });
  }

  /** Whether another transaction locks the account of the call sometimes. */
  isEverLocked({ account }: HistoryCall): boolean {
    return this.history.locks.some((lock) => lock.account === account && lock.turns > 0);
  }

  private async statement<T>(
    calls: readonly HistoryCall[],
    waits: boolean,
    work: () => Promise<T>,
  ): Promise<T> {
    const { faults, durations } = this.history;
    const number = this.statements.push({ calls, waits }) - 1;
    const fault = faults.get(number);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      for (let turns = durations[number % durations.length] ?? 0; turns > 0; turns -= 1)
        await nextTurn();
      if (fault !== undefined && fault !== 'answer lost') throw failure(fault);
      const answers = await work();
      if (fault !== undefined) throw failure(fault);
      return answers;
    } finally {
      this.running -= 1;
    }
  }

  private isLocked({ account }: HistoryCall): boolean {
    return this.history.locks.some(
      (lock) =>
        lock.account === account && this.turn >= lock.from && this.turn < lock.from + lock.turns,
    );
  }

  private commit(calls: readonly HistoryCall[]): void {
    if (calls.some(({ isBad }) => isBad)) throw failure('bad');
    for (const call of calls) if (!this.committed.includes(call)) this.committed.push(call);
  }
}

/** What became of a history's calls. */
export interface Played {
  readonly database: SimulatedDatabase;
  /** By call: `done`, or the code or name of its error. */
  readonly outcomes: readonly string[];
  /** By call: how many shared statements began after it and before the first that carried it. */
  readonly overtakenBy: readonly number[];
}

/** Plays a history against the batcher that `connect` makes. Fails if a call gets two outcomes or a wrong answer. */
export async function play(
  history: History,
  connect: (database: SimulatedDatabase) => (call: HistoryCall) => Promise<number>,
): Promise<Played> {
  const database = new SimulatedDatabase(history);
  const run = connect(database);
  const outcomes: string[] = history.calls.map(() => 'none');
  const sentBefore: number[] = [];
  const submit = async (call: HistoryCall): Promise<void> => {
    sentBefore[call.id] = database.statements.length;
    const outcome = await run(call).then(
      (answer) => (answer === answerTo(call) ? 'done' : `answered ${answer}`),
      nameOf,
    );
    outcomes[call.id] = outcome;
  };
  const submitted: Promise<void>[] = [];
  let open = history.calls.length;
  while (open > 0) {
    for (const call of history.calls.slice(submitted.length)) {
      if (call.atTurn > database.turn) break;
      submitted.push(submit(call).finally(() => (open -= 1)));
    }
    await nextTurn();
    database.turn += 1;
  }
  await Promise.all(submitted);
  // A statement that is sent for nobody would be seen here.
  for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  const overtakenBy = history.calls.map((call) => {
    const since = database.statements.slice(sentBefore[call.id]);
    const first = since.findIndex(({ calls }) => calls.includes(call));
    return since.slice(0, first).filter(({ waits }) => !waits).length;
  });
  return { database, outcomes, overtakenBy };
}

function failure(kind: keyof typeof CODE): Error {
  return Object.assign(new Error(kind), { code: CODE[kind] });
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && CODES.has(String(error.code))
    ? String(error.code)
    : error.constructor.name;
}

const CODES: ReadonlySet<string> = new Set(Object.values(CODE));

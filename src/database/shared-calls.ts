import assert from 'node:assert/strict';
import { databaseFaultOf } from './database-errors.js';

/** How calls share statements. */
export interface SharedCallTerms<Call, Answer> {
  /** Makes the calls in one statement; returns their answers in the same order. */
  readonly make: (calls: readonly Call[]) => Promise<readonly Answer[]>;
  /** The account of a call. */
  readonly accountOf: (call: Call) => unknown;
  /** Most calls in one statement. */
  readonly maxBatch: number;
  /** Statements under way at once: an account that is locked elsewhere holds up one of them. */
  readonly lanes: number;
}

interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

type Batch<Call, Answer> = readonly Waiting<Call, Answer>[];

/**
 * Calls of many callers in shared statements, each of which takes everything that came meanwhile. No timer: a call that
 * finds a lane idle leaves at once. Each caller gets the outcome of its own call: where the database refuses a
 * statement, its calls are tried by account and then one by one.
 */
export class SharedCalls<Call, Answer> {
  #waiting: Waiting<Call, Answer>[] = [];
  #underWay = 0;

  constructor(private readonly terms: SharedCallTerms<Call, Answer>) {}

  /** Calls that are in no statement yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** What one call was answered. Throws the database's error, which in an outage others get too. */
  run(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      if (this.#underWay < this.terms.lanes) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#underWay += 1;
    const { maxBatch } = this.terms;
    while (this.#waiting.length > 0) await this.#make(this.#waiting.splice(0, maxBatch));
    this.#underWay -= 1;
  }

  async #make(batch: Batch<Call, Answer>): Promise<void> {
    try {
      const answers = await this.terms.make(batch.map(({ call }) => call));
      assert(answers.length === batch.length, 'the statement answers every call');
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      // One call that the database refuses, or whose account is locked, must not take the others with it.
      const parts = isOutage(error) ? [batch] : this.#partsOf(batch, error);
      if (parts.length > 1) for (const part of parts) await this.#make(part);
      else for (const { reject } of batch) reject(error);
    }
  }

  /** What is tried again by itself: each account, then each of its calls, but not while the account is locked. */
  #partsOf(batch: Batch<Call, Answer>, error: unknown): readonly Batch<Call, Answer>[] {
    const accounts = new Map<unknown, Waiting<Call, Answer>[]>();
    for (const waiting of batch) {
      const account = this.terms.accountOf(waiting.call);
      const own = accounts.get(account);
      if (own) own.push(waiting);
      else accounts.set(account, [waiting]);
    }
    // The account with most calls is probably the locked one, and a lock takes long to detect.
    if (accounts.size > 1) return [...accounts.values()].sort((a, b) => a.length - b.length);
    return databaseFaultOf(error) === 'aborted' ? [batch] : batch.map((waiting) => [waiting]);
  }
}

/** Whether nothing could be said about any of the calls, and some of them may be done. */
function isOutage(error: unknown): boolean {
  return ['unavailable', 'lost'].includes(databaseFaultOf(error));
}

import assert from 'node:assert/strict';
import { databaseFaultOf, isRolledBack } from '../database-errors.js';

/** Statements under way at once that each wait for one account which was found locked. */
const MAX_APART_STATEMENTS = 4;
/** An account that was found locked is forgotten when nobody has called for it for this long. */
const FORGOTTEN_MS = 60_000;

/** How calls share statements. */
export interface SharedCallsTerms<Call, Answer> {
  /**
   * Makes the calls in one statement; returns their answers in the same order. With `waits` all calls are of one account, and
   * the statement may wait long for its lock.
   */
  readonly make: (calls: readonly Call[], waits: boolean) => Promise<readonly Answer[]>;
  /** The account of a call. */
  readonly accountOf: (call: Call) => unknown;
  /** Most calls in one statement. */
  readonly maxBatch: number;
  /** Shared statements under way at once. */
  readonly maxStatements: number;
}

interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

type Batch<Call, Answer> = readonly Waiting<Call, Answer>[];

/** The calls of an account that was found locked. */
interface Apart<Call, Answer> {
  readonly waiting: Waiting<Call, Answer>[];
  isUnderWay: boolean;
  usedAtMs: number;
}

/**
 * Calls of many callers in shared statements, each of which takes everything that came meanwhile. No timer: a call that
 * finds fewer statements under way leaves at once. Each caller gets the outcome of its own call: where the database refuses a
 * statement, its calls are tried by account and then one by one. The calls of an account that somebody else has locked
 * have statements of their own until it is free, so that they delay nobody else for longer than it takes to notice.
 */
export class SharedCalls<Call, Answer> {
  #waiting: Waiting<Call, Answer>[] = [];
  #underWay = 0;
  readonly #apart = new Map<unknown, Apart<Call, Answer>>();
  #apartStatements = 0;

  constructor(private readonly terms: SharedCallsTerms<Call, Answer>) {}

  /** Calls that are in no statement yet. */
  get waiting(): number {
    let count = this.#waiting.length;
    for (const { waiting } of this.#apart.values()) count += waiting.length;
    return count;
  }

  /** What one call was answered. Throws the database's error, which in an outage others get too. */
  run(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const apart = this.#apart.get(this.terms.accountOf(call));
      (apart?.waiting ?? this.#waiting).push({ call, resolve, reject });
      if (apart) this.#sendApart();
      else this.#sendShared();
    });
  }

  #sendShared(): void {
    if (this.#waiting.length > 0 && this.#underWay < this.terms.maxStatements) void this.#send();
  }

  async #send(): Promise<void> {
    this.#underWay += 1;
    const { maxBatch } = this.terms;
    while (this.#waiting.length > 0) await this.#make(this.#waiting.splice(0, maxBatch));
    this.#underWay -= 1;
  }

  async #make(batch: Batch<Call, Answer>): Promise<void> {
    const error = await this.#failureOf(batch, false);
    if (error !== undefined) await this.#makeParts(batch, error);
  }

  /** What is done with calls whose statement failed. One of them must not take the others with it. */
  async #makeParts(batch: Batch<Call, Answer>, error: unknown): Promise<void> {
    if (isOutage(error) || (batch.length === 1 && !isRolledBack(error))) {
      rejectAll(batch, error);
      return;
    }
    let parts = this.#byAccount(batch);
    // The account with most calls is probably the locked one, and a lock takes long to detect.
    if (isRolledBack(error)) this.#setApart(parts.pop() ?? []);
    else if (parts.length === 1) parts = batch.map((waiting) => [waiting]);
    for (const part of parts) await this.#make(part);
  }

  /** From now on the calls of this account have statements of their own. */
  #setApart(batch: Batch<Call, Answer>): void {
    const [first] = batch;
    assert(first, 'somebody called');
    const usedAtMs = performance.now();
    for (const [account, { waiting, isUnderWay, usedAtMs: atMs }] of this.#apart) {
      const isIdle = waiting.length === 0 && !isUnderWay;
      if (isIdle && usedAtMs - atMs > FORGOTTEN_MS) this.#apart.delete(account);
    }
    const account = this.terms.accountOf(first.call);
    const known = this.#apart.get(account);
    if (known) known.waiting.unshift(...batch);
    else this.#apart.set(account, { waiting: [...batch], isUnderWay: false, usedAtMs });
    this.#sendApart();
  }

  #sendApart(): void {
    for (const [account, apart] of this.#apart) {
      if (this.#apartStatements >= MAX_APART_STATEMENTS) return;
      if (!apart.isUnderWay && apart.waiting.length > 0) void this.#waitFor(account, apart);
    }
  }

  /** Waits once for the account. If it stays locked, all its callers are told so and may come again. */
  async #waitFor(account: unknown, apart: Apart<Call, Answer>): Promise<void> {
    this.#apartStatements += 1;
    apart.isUnderWay = true;
    const batch = apart.waiting.splice(0, this.terms.maxBatch);
    const error = await this.#failureOf(batch, true);
    this.#apartStatements -= 1;
    apart.isUnderWay = false;
    apart.usedAtMs = performance.now();
    // It goes to the end, behind other locked accounts.
    this.#apart.delete(account);
    const isLocked = error !== undefined && isRolledBack(error);
    if (isLocked) {
      this.#apart.set(account, apart);
      rejectAll([...batch, ...apart.waiting.splice(0)], error);
    } else {
      this.#waiting.push(...apart.waiting);
      this.#sendShared();
    }
    this.#sendApart();
    if (error !== undefined && !isLocked) await this.#makeParts(batch, error);
  }

  /** Makes the calls and answers them. Returns the error of the statement, whose calls are not answered then. */
  async #failureOf(batch: Batch<Call, Answer>, waits: boolean): Promise<unknown> {
    try {
      const calls = batch.map(({ call }) => call);
      const answers = await this.terms.make(calls, waits);
      assert(answers.length === batch.length, 'the statement answers every call');
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
      return undefined;
    } catch (error) {
      return error ?? new Error('the statement failed');
    }
  }

  /** The calls by account, those with few calls first. */
  #byAccount(batch: Batch<Call, Answer>): Batch<Call, Answer>[] {
    const accounts = new Map<unknown, Waiting<Call, Answer>[]>();
    for (const waiting of batch) {
      const account = this.terms.accountOf(waiting.call);
      const own = accounts.get(account);
      if (own) own.push(waiting);
      else accounts.set(account, [waiting]);
    }
    return [...accounts.values()].sort((a, b) => a.length - b.length);
  }
}

function rejectAll<Call, Answer>(batch: Batch<Call, Answer>, error: unknown): void {
  for (const { reject } of batch) reject(error);
}

/** Whether nothing could be said about any of the calls, and some of them may be done. */
function isOutage(error: unknown): boolean {
  return ['unavailable', 'lost'].includes(databaseFaultOf(error));
}

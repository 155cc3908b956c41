import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isTransient } from '../../database/database-errors.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { type ReversalOutcome, ReversalRepository } from './reversal.repository.js';
import { ProcessLease } from './process-lease.js';
import { type Reversal, type TaskReversal, reversalIdOf } from './reversal.js';
import { type ReversalFile, ReversalJournal } from './reversal-journal.js';

/** Most that may be owed at once. At this number no new call begins. */
const MAX_OWED = 10_000;
/** Cancelled at once, because an outage may have left thousands. */
const PAID_AT_ONCE = 4;
const RETRY_MS = 1_000;

/** Which of the processes $2 the process $1 may judge as dead. A process without a row ended long ago. */
const DEAD = `
  SELECT other.id
    FROM gateway_process judge
   CROSS JOIN unnest($2::text[]) other (id)
    LEFT JOIN gateway_process known ON known.id::text = other.id
   WHERE judge.id = $1 AND judge.lease_until > now()
     AND (known.id IS NULL OR known.lease_until < now())
     AND judge.unbroken_since <= now() - greatest(known.lease_ms, judge.lease_ms) * interval '1 millisecond'`;

/** Injection token: the gateway's data directory. */
export const REVERSAL_DIRECTORY = Symbol('REVERSAL_DIRECTORY');

/**
 * Calls and tasks whose caller got an error while the database could not be reached. Each is cancelled, however long
 * that takes. If a charge may exist or a task may run, it is on disk first, so that another process or the next start
 * gives the money back. The mere hold of a call ends with its process and needs no file.
 */
@Injectable()
export class Reversals implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger(Reversals.name);
  readonly #statements: ReversalRepository;
  readonly #journal: ReversalJournal;
  readonly #owed = new Map<string, Reversal>();
  readonly #onDisk = new Set<string>();
  /** Of those, what the journal has refused so far. */
  readonly #unwritten = new Map<string, Reversal>();
  #paying: Promise<void> = Promise.resolve();
  #endTask: (task: TaskReversal) => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly process: ProcessLease,
    private readonly scheduler: Scheduler,
    @Inject(REVERSAL_DIRECTORY) dataDir: string,
  ) {
    this.#statements = new ReversalRepository(dataSource);
    this.#journal = new ReversalJournal(dataDir, process.id);
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'owed-cancellations',
      intervalMs: RETRY_MS,
      tick: () => this.tick(),
      servesOwnCalls: true,
    });
  }

  /** Tells how a task that has not ended is ended; the statement that cancels it does the rest. */
  endTasksBy(end: (task: TaskReversal) => Promise<void>): void {
    this.#endTask = end;
  }

  get size(): number {
    return this.#owed.size;
  }

  get isFull(): boolean {
    return this.#owed.size >= MAX_OWED;
  }

  /** Notes a call that may hold money but was not charged. */
  add(owed: Reversal): void {
    this.#owed.set(reversalIdOf(owed), owed);
  }

  /** Notes a call that may have been charged, or a task that may run. Resolves once a crash cannot lose it. */
  async addDurably(owed: Reversal): Promise<void> {
    const id = reversalIdOf(owed);
    this.#onDisk.add(id);
    this.add(owed);
    await this.#write(id, owed);
  }

  /** Tries to cancel what is owed, if anything is. */
  async tick(): Promise<void> {
    if (this.#owed.size > 0) await this.flush();
    await this.#writeRest();
  }

  /** Tries to cancel each once. */
  flush(): Promise<void> {
    this.#paying = this.#paying.then(() => this.#payAll());
    return this.#paying;
  }

  /**
   * Cancels what dead processes owed. As in the sweep, a process may judge another only after it has beaten without a
   * break for a whole lease of either. What cannot be cancelled stays on disk, and delays nothing else. Returns the number of
   * calls and tasks that were cancelled.
   */
  async recoverFromDeadProcesses(): Promise<number> {
    const files = await this.#journal.files();
    if (files.length === 0) return 0;
    const others = [...new Set(files.map(({ processId }) => processId))];
    const rows = await this.dataSource.query<{ id: string }[]>(DEAD, [this.process.id, others]);
    const payable = new Set([this.process.id, ...rows.map(({ id }) => id)]);
    let paid = 0;
    for (const file of files) if (payable.has(file.processId)) paid += await this.#payFile(file);
    if (paid > 0) this.#logger.warn(`${paid} cancellations owed by ended processes are made`);
    return paid;
  }

  /** Tries once more. The rest is on disk, or the sweep releases it. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
    await this.#writeRest();
    await this.#journal.close(this.#onDisk.size === 0);
  }

  async #write(id: string, owed: Reversal): Promise<void> {
    try {
      await this.#journal.write(owed);
      this.#unwritten.delete(id);
    } catch (error) {
      this.#unwritten.set(id, owed);
      this.#logger.error(`what is owed is not on disk (${id}): ${String(error)}`);
    }
  }

  /** Writes what the journal has refused and is still owed, until it refuses again. */
  async #writeRest(): Promise<void> {
    for (const [id, owed] of this.#unwritten) {
      if (!this.#owed.has(id)) this.#unwritten.delete(id);
      else await this.#write(id, owed);
      if (this.#unwritten.has(id)) return;
    }
  }

  /**
   * The number of cancellations that were made: what needed none does not count. A file that another process has taken
   * over meanwhile belongs to that one. Lines that nobody can act on are put aside.
   */
  async #payFile(file: ReversalFile): Promise<number> {
    const name = await this.#journal.takeOver(file);
    if (name === undefined) return 0;
    const { owed: all, unreadable } = await this.#journal.read(name);
    const unpaid: Reversal[] = [];
    const aside = [...unreadable];
    let made = 0;
    for (const owed of all) {
      try {
        const outcome = await this.#cancel(owed);
        if (outcome === 'missing') aside.push(JSON.stringify(owed));
        else if (outcome !== 'nothing') made += 1;
      } catch (error) {
        if (isTransient(error)) throw error;
        this.#logger.error(
          `still owed by an ended process: ${reversalIdOf(owed)}: ${String(error)}`,
        );
        unpaid.push(owed);
      }
    }
    if (aside.length > 0) {
      const path = await this.#journal.putAside(name, aside);
      this.#logger.error(
        `${aside.length} lines of what an ended process owed are torn or name no account: money may have to be given back by hand. They are in ${path}`,
      );
    }
    await this.#journal.keep(name, unpaid);
    return made;
  }

  async #payAll(): Promise<void> {
    const all = [...this.#owed.values()].values();
    const payer = async (): Promise<void> => {
      for (const owed of all) await this.#pay(owed);
    };
    await Promise.all(Array.from({ length: PAID_AT_ONCE }, payer));
    if (this.#onDisk.size > 0 || this.#owed.size > 0) return;
    await this.#journal.clear().catch((error: unknown) => {
      this.#logger.error(`the journal of what is owed: ${String(error)}`);
    });
  }

  async #cancel(owed: Reversal): Promise<ReversalOutcome> {
    if ('taskId' in owed && !('jobId' in owed)) await this.#endTask(owed);
    return this.#statements.cancel(owed);
  }

  async #pay(owed: Reversal): Promise<void> {
    const id = reversalIdOf(owed);
    try {
      const outcome = await this.#cancel(owed);
      if (outcome === 'missing') this.#logger.error(`no account of the owed ${id}`);
      this.#owed.delete(id);
      this.#onDisk.delete(id);
      this.process.untrackOpenCall(id);
    } catch (error) {
      this.#logger.debug(`still owed: ${id}: ${String(error)}`);
    }
  }
}

import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { isTransient } from '../../platform/database/database-errors.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { type ReversalOutcome, ReversalRepository } from './reversal.repository.js';
import { ProcessLease } from './process-lease.js';
import { type Reversal, type TaskReversal, reversalIdOf } from './reversal.js';
import { type ReversalFile, ReversalJournal } from './reversal-journal.js';

/** Most pending reversals. At this number no new call begins. */
const MAX_PENDING = 10_000;
/** Concurrent reversals, because an outage may leave thousands. */
const CONCURRENCY = 4;
const RETRY_MS = 1_000;

/** Of the processes $2, those that the process $1 may consider dead. A process without a row ended long ago. */
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
 * Undoes calls and tasks whose caller got an error while the database could not be reached. Each is retried until it
 * succeeds. If a charge may exist or a task may run, the reversal is on disk first, so that another process or the next
 * start can make it. A hold without a charge needs no file: the sweep releases it when the lease of its process ends.
 */
@Injectable()
export class Reversals implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Reversals.name);
  private readonly statements: ReversalRepository;
  private readonly journal: ReversalJournal;
  private readonly pending = new Map<string, Reversal>();
  private readonly onDisk = new Set<string>();
  /** Those of them that could not be written to the journal yet. */
  private readonly unwritten = new Map<string, Reversal>();
  private flushing: Promise<void> = Promise.resolve();
  private endTask: (task: TaskReversal) => Promise<void> = () => Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly process: ProcessLease,
    private readonly scheduler: Scheduler,
    @Inject(REVERSAL_DIRECTORY) dataDir: string,
  ) {
    this.statements = new ReversalRepository(dataSource);
    this.journal = new ReversalJournal(dataDir, process.id);
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'owed-cancellations',
      intervalMs: RETRY_MS,
      tick: () => this.tick(),
      servesOwnCalls: true,
    });
  }

  /** Sets the function that ends a running task before its reversal. */
  setTaskEnder(end: (task: TaskReversal) => Promise<void>): void {
    this.endTask = end;
  }

  get size(): number {
    return this.pending.size;
  }

  get isFull(): boolean {
    return this.pending.size >= MAX_PENDING;
  }

  /** Adds the reversal of a call that may hold money but was not charged. */
  add(reversal: Reversal): void {
    this.pending.set(reversalIdOf(reversal), reversal);
  }

  /** Adds the reversal of a call that may have been charged or of a task that may run. Resolves once it is on disk. */
  async addDurably(reversal: Reversal): Promise<void> {
    const id = reversalIdOf(reversal);
    this.onDisk.add(id);
    this.add(reversal);
    await this.write(id, reversal);
  }

  /** Tries all pending reversals and writes those that are not on disk yet. */
  async tick(): Promise<void> {
    if (this.pending.size > 0) await this.flush();
    await this.writeRest();
  }

  /** Tries each pending reversal once. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.tryAll());
    return this.flushing;
  }

  /**
   * Makes the reversals in the journals of dead processes. As in the sweep, a process may consider another dead only after
   * its own heartbeats were unbroken for the longer of both leases. A reversal that fails stays on disk and does not delay
   * the others. Returns the number of reversals made.
   */
  async recoverFromDeadProcesses(): Promise<number> {
    const files = await this.journal.files();
    if (files.length === 0) return 0;
    const others = [...new Set(files.map(({ processId }) => processId))];
    const rows = await this.dataSource.query<{ id: string }[]>(DEAD, [this.process.id, others]);
    const recoverable = new Set([this.process.id, ...rows.map(({ id }) => id)]);
    let made = 0;
    for (const file of files)
      if (recoverable.has(file.processId)) made += await this.processFile(file);
    if (made > 0) this.logger.warn(`made ${made} reversals of ended processes`);
    return made;
  }

  /** Tries once more. What remains is on disk, or is released by the sweep. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
    await this.writeRest();
    await this.journal.close(this.onDisk.size === 0);
  }

  private async write(id: string, reversal: Reversal): Promise<void> {
    try {
      await this.journal.write(reversal);
      this.unwritten.delete(id);
    } catch (error) {
      this.unwritten.set(id, reversal);
      this.logger.error(`cannot write the reversal of ${id} to the journal: ${String(error)}`);
    }
  }

  /** Writes pending reversals that are not on disk yet, until a write fails. */
  private async writeRest(): Promise<void> {
    for (const [id, reversal] of this.unwritten) {
      if (!this.pending.has(id)) this.unwritten.delete(id);
      else await this.write(id, reversal);
      if (this.unwritten.has(id)) return;
    }
  }

  /**
   * Makes the reversals of a file. Returns how many changed something. Skips a file that another process took over
   * meanwhile. Lines that cannot be processed are moved to another file.
   */
  private async processFile(file: ReversalFile): Promise<number> {
    const name = await this.journal.takeOver(file);
    if (name === undefined) return 0;
    const { reversals: all, unreadable } = await this.journal.read(name);
    const failed: Reversal[] = [];
    const aside = [...unreadable];
    let made = 0;
    for (const reversal of all) {
      try {
        const outcome = await this.cancel(reversal);
        if (outcome === 'missing') aside.push(JSON.stringify(reversal));
        else if (outcome !== 'nothing') made += 1;
      } catch (error) {
        if (isTransient(error)) throw error;
        this.logger.error(
          `reversal of an ended process failed: ${reversalIdOf(reversal)}: ${String(error)}`,
        );
        failed.push(reversal);
      }
    }
    if (aside.length > 0) {
      const path = await this.journal.putAside(name, aside);
      this.logger.error(
        `${aside.length} lines of the reversal journal of an ended process are damaged or name no account: money may have to be refunded by hand. They are in ${path}`,
      );
    }
    await this.journal.keep(name, failed);
    return made;
  }

  private async tryAll(): Promise<void> {
    const all = [...this.pending.values()].values();
    const worker = async (): Promise<void> => {
      for (const reversal of all) await this.try(reversal);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (this.onDisk.size > 0 || this.pending.size > 0) return;
    await this.journal.clear().catch((error: unknown) => {
      this.logger.error(`cannot clear the reversal journal: ${String(error)}`);
    });
  }

  private async cancel(reversal: Reversal): Promise<ReversalOutcome> {
    if ('taskId' in reversal && !('jobId' in reversal)) await this.endTask(reversal);
    const outcome = await this.statements.cancel(reversal);
    if (outcome !== 'other_job' && outcome !== 'other_task') return outcome;
    this.logger.warn(`${reversalIdOf(reversal)} is dropped: ${outcome}`);
    return 'nothing';
  }

  /** An account that is not here, such as one that moved to another cell. Throws while what it may be owed cannot be written down. */
  private async leaveToOperator(reversal: Reversal): Promise<void> {
    const id = reversalIdOf(reversal);
    if (!this.onDisk.has(id)) {
      this.logger.error(`the account of the reversal of ${id} does not exist`);
      return;
    }
    try {
      const path = await this.journal.addAside(reversal);
      this.logger.error(
        `the account of the reversal of ${id} does not exist or has moved to another cell: money may have to be refunded by hand. It is in ${path}`,
      );
    } catch (error) {
      this.logger.error(`cannot put the reversal of ${id} aside: ${String(error)}`);
      throw error;
    }
  }

  private async try(reversal: Reversal): Promise<void> {
    const id = reversalIdOf(reversal);
    try {
      const outcome = await this.cancel(reversal);
      if (outcome === 'missing') await this.leaveToOperator(reversal);
      this.pending.delete(id);
      this.onDisk.delete(id);
      this.process.untrackOpenCall(id);
    } catch (error) {
      this.logger.debug(`reversal of ${id} failed: ${String(error)}`);
    }
  }
}

import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Ticker } from '../ticker/ticker.js';
import { ExecutionStatements } from './execution-statements.js';
import type { OwedCall } from './execution-steps.js';
import { GatewayProcess } from './gateway-process.js';
import { OwedJournal } from './owed-journal.js';

/** Most calls owed at once; at that many the ledger takes no new calls. */
const MAX_OWED = 10_000;
/** Paid at once: an outage may have left thousands. */
const PAID_AT_ONCE = 4;
const RETRY_MS = 1_000;

/** Which of the processes $2 the judge $1 may take for dead; a process without a row ended long ago. */
const DEAD = `
  SELECT other.id
    FROM gateway_process judge
   CROSS JOIN unnest($2::text[]) other (id)
    LEFT JOIN gateway_process known ON known.id::text = other.id
   WHERE judge.id = $1 AND judge.lease_until > now()
     AND (known.id IS NULL OR known.lease_until < now())
     AND judge.unbroken_since <= now() - greatest(known.lease_ms, judge.lease_ms) * interval '1 millisecond'`;

/** Injection token: the gateway's data directory. */
export const OWED_DIRECTORY = Symbol('OWED_DIRECTORY');

/**
 * Calls whose caller was told of failure while the database could not be told: each is cancelled until that is done. Where
 * a charge may stand, the call is on disk first, so that another process or the next start gives the money back; a mere
 * hold dies with its process and needs no file.
 */
@Injectable()
export class OwedCalls implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger(OwedCalls.name);
  readonly #statements: ExecutionStatements;
  readonly #journal: OwedJournal;
  readonly #owed = new Map<string, OwedCall>();
  readonly #onDisk = new Set<string>();
  #paying: Promise<void> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly process: GatewayProcess,
    private readonly ticker: Ticker,
    @Inject(OWED_DIRECTORY) dataDir: string,
  ) {
    this.#statements = new ExecutionStatements(dataSource);
    this.#journal = new OwedJournal(dataDir, process.id);
  }

  onApplicationBootstrap(): void {
    this.ticker.start({
      name: 'owed-calls',
      intervalMs: RETRY_MS,
      tick: () => this.tick(),
      servesOwnCalls: true,
    });
  }

  get size(): number {
    return this.#owed.size;
  }

  get isFull(): boolean {
    return this.#owed.size >= MAX_OWED;
  }

  /** Takes over a call that may hold money, but was not charged. */
  add(call: OwedCall): void {
    this.#owed.set(call.executionId, call);
  }

  /** Takes over a call that may have been charged; resolves once no crash can forget it. */
  async addDurably(call: OwedCall): Promise<void> {
    this.#onDisk.add(call.executionId);
    this.add(call);
    try {
      await this.#journal.write(call);
    } catch (error) {
      this.#logger.error(`what is owed is not on disk (${call.executionId}): ${String(error)}`);
    }
  }

  /** Tries to pay what is owed, if anything is. */
  async tick(): Promise<void> {
    if (this.#owed.size > 0) await this.flush();
  }

  /** Tries to pay each once. */
  flush(): Promise<void> {
    this.#paying = this.#paying.then(() => this.#payAll());
    return this.#paying;
  }

  /**
   * Pays what processes owed whose lease is over, judged as the sweep judges them: by a process that has itself beaten
   * without a break for a whole lease of either. Returns how many calls that were.
   */
  async payForOthers(): Promise<number> {
    const others = await this.#journal.others();
    if (others.length === 0) return 0;
    const dead = await this.dataSource.query<{ id: string }[]>(DEAD, [this.process.id, others]);
    let paid = 0;
    for (const { id: processId } of dead) {
      const calls = await this.#journal.read(processId);
      for (const call of calls) await this.#statements.cancel(call);
      await this.#journal.forget(processId);
      paid += calls.length;
    }
    if (paid > 0) this.#logger.warn(`${paid} calls owed by ended processes are paid`);
    return paid;
  }

  /** Tries once more; what is left is on disk, or the sweeper's. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
    await this.#journal.close(this.#onDisk.size === 0);
  }

  async #payAll(): Promise<void> {
    const calls = [...this.#owed.values()].values();
    const payer = async (): Promise<void> => {
      for (const call of calls) await this.#pay(call);
    };
    await Promise.all(Array.from({ length: PAID_AT_ONCE }, payer));
    if (this.#onDisk.size > 0 || this.#owed.size > 0) return;
    await this.#journal.clear().catch((error: unknown) => {
      this.#logger.error(`the journal of what is owed: ${String(error)}`);
    });
  }

  async #pay(call: OwedCall): Promise<void> {
    try {
      const outcome = await this.#statements.cancel(call);
      if (outcome === 'missing') this.#logger.error(`no account of the owed ${call.executionId}`);
      this.#owed.delete(call.executionId);
      this.#onDisk.delete(call.executionId);
      this.process.closed(call.executionId);
    } catch (error) {
      this.#logger.debug(`still owed: ${call.executionId}: ${String(error)}`);
    }
  }
}

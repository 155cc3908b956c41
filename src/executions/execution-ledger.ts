import assert from 'node:assert/strict';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayProcess } from './gateway-process.js';
import { GroupCommit, OutcomeUnknown } from './group-commit.js';
import { cursorOf, type Page, pageOf, type PageRequest } from '../common/paging/page.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Clock } from '../common/time/clock.js';
import { isTransient } from '../database/database-errors.js';
import { Metrics } from '../observability/metrics.js';
import {
  type Execution,
  executionOf,
  type ExecutionRow,
  type ExecutionStatus,
} from './execution.js';
import {
  type BeginOutcome,
  type ExecutionEnd,
  type ExecutionStart,
  ExecutionStatements,
  type ExecutionStep,
  type FinishOutcome,
} from './execution-statements.js';
import { OwedResolutions } from './owed-resolutions.js';

/** A call waits this long for its hold, … */
const BEGIN_PATIENCE_MS = 5_000;
/** … this long for its settlement to become durable, … */
export const SUCCEED_PATIENCE_MS = 20_000;
/** … and this long for a release before it is owed. */
export const FAIL_PATIENCE_MS = 2_000;

/** A call that succeeded at its provider. */
export type ExecutionSuccess = Pick<
  ExecutionEnd,
  'executionId' | 'accountId' | 'provider' | 'providerRequestId'
> & { readonly chargedMicroUsd: bigint };
/** A call that failed. */
export type ExecutionFailure = Omit<ExecutionEnd, 'chargedMicroUsd' | 'errorCode'> & {
  readonly errorCode: string;
};

/** Which executions to list; all filters must hold. */
export interface ExecutionQuery extends PageRequest {
  readonly accountId?: string | undefined;
  readonly status?: ExecutionStatus | undefined;
}

/**
 * Holds before a synchronous call, settles or releases after it, and keeps its record; one durable statement before and
 * one after, shared with the other calls of the account (decisions G-22, G-25). Call `begin`, then once `succeed` or `fail`.
 */
@Injectable()
export class ExecutionLedger implements BeforeApplicationShutdown {
  readonly #statements: ExecutionStatements;
  readonly #steps: GroupCommit<ExecutionStep, BeginOutcome | FinishOutcome>;
  readonly #owed = new OwedResolutions((end) => this.#release(end));

  constructor(
    private readonly dataSource: DataSource,
    process: GatewayProcess,
    clock: Clock,
    metrics: Metrics,
  ) {
    const statements = new ExecutionStatements(dataSource);
    this.#statements = statements;
    this.#steps = new GroupCommit({
      commit: (accountId, steps) => statements.commit(accountId, process.id, steps),
      isTransient,
      clock,
      onBatch: (size) => {
        metrics.batchSize.observe(size);
      },
    });
  }

  /** Releases the database could not be told of yet. */
  get owed(): number {
    return this.#owed.size;
  }

  /**
   * Holds the amount and records the call as running; 'insufficient' comes only from a balance read under lock. Throws
   * 503 service_unavailable when the database cannot be asked; then nothing stays held.
   */
  async begin(start: ExecutionStart): Promise<'held' | 'insufficient'> {
    assert(start.amountMicroUsd > 0n, 'nothing is sold for nothing');
    if (this.#owed.isFull) throw gaveUp();
    try {
      const step = { kind: 'begin', start } as const;
      const outcome = await this.#steps.submit(start.accountId, step, BEGIN_PATIENCE_MS);
      assert(outcome === 'held' || outcome === 'insufficient', `a new hold: ${outcome}`);
      return outcome;
    } catch (error) {
      if (error instanceof OutcomeUnknown) this.#owe({ ...start, ...NO_PROVIDER });
      throw error;
    }
  }

  /**
   * Settles at most the held amount, frees the rest and records success; returns once that is durable. When it throws, the
   * caller must answer with an error, for the hold is or will be released: 503 service_unavailable when the database could
   * not be told, or when the hold was taken from this process because it seemed dead.
   */
  async succeed(success: ExecutionSuccess): Promise<void> {
    assert(success.chargedMicroUsd >= 0n, 'a charge is not negative');
    const end = { errorCode: null, ...success };
    const outcome = await this.#finish(end, SUCCEED_PATIENCE_MS).catch((error: unknown) => {
      this.#owe(success);
      throw error;
    });
    if (outcome === 'done') return;
    if (outcome === 'excess') this.#owe(success);
    assert(outcome === 'conflict', `a charge within its hold: ${outcome}`);
    throw gaveUp();
  }

  /**
   * Releases the hold and records the failure. Where the database cannot be told soon the release is owed and made later:
   * then it returns as well, so that the caller answers its own error. Throws 409 conflict where the call had succeeded.
   */
  async fail(failure: ExecutionFailure): Promise<void> {
    const end = { chargedMicroUsd: null, ...failure };
    const outcome = await this.#finish(end, FAIL_PATIENCE_MS).catch(() => {
      this.#owed.add(end);
      return 'done' as const;
    });
    if (outcome !== 'done') throw new GatewayError('conflict', 'The call had already succeeded.');
  }

  /** The execution, or undefined; with `accountId`, only where it is that account's. */
  async find(id: string, accountId?: string): Promise<Execution | undefined> {
    const [row] = await this.dataSource.query<ExecutionRow[]>(
      `SELECT * FROM execution WHERE id = $1 AND ($2::uuid IS NULL OR account_id = $2)`,
      [id, accountId ?? null],
    );
    return row && executionOf(row);
  }

  /** Executions, newest first. */
  async list(query: ExecutionQuery): Promise<Page<Execution>> {
    const rows = await this.dataSource.query<ExecutionRow[]>(
      `SELECT * FROM execution
        WHERE ($1::uuid IS NULL OR account_id = $1) AND ($2::text IS NULL OR status = $2)
          AND ($3::uuid IS NULL OR id < $3)
        ORDER BY id DESC LIMIT $4`,
      [query.accountId ?? null, query.status ?? null, cursorOf(query, 'uuid'), query.limit + 1],
    );
    return pageOf(rows, query.limit, executionOf, (row) => row.id);
  }

  /** Tries once more what is owed; the sweeper of another process does the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#owed.flush();
    this.#owed.stop();
  }

  #finish(end: ExecutionEnd, patienceMs: number): Promise<BeginOutcome | FinishOutcome> {
    return this.#steps.submit(end.accountId, { kind: 'finish', end }, patienceMs);
  }

  #owe(call: Omit<ExecutionFailure, 'errorCode'>): void {
    this.#owed.add({
      executionId: call.executionId,
      accountId: call.accountId,
      provider: call.provider,
      providerRequestId: call.providerRequestId,
      chargedMicroUsd: null,
      errorCode: 'service_unavailable',
    });
  }

  async #release(end: ExecutionEnd): Promise<void> {
    const outcome = await this.#finish(end, FAIL_PATIENCE_MS);
    // The settlement nobody saw commit did commit, and its caller was told of failure.
    if (outcome === 'conflict') await this.#statements.reverse(end);
  }
}

const NO_PROVIDER = { provider: null, providerRequestId: null };

function gaveUp(): GatewayError {
  return new GatewayError('service_unavailable', 'The call could not be recorded.', {
    retryAfterSeconds: 1,
  });
}

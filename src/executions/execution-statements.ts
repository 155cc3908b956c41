import type { DataSource } from 'typeorm';
import { PreparedStatement } from '../billing/prepared-statement.js';
import type { MicroUsd } from '../common/money/micro-usd.js';

/** A synchronous call about to go to a provider, and the money to hold for it. */
export interface ExecutionStart {
  /** Time-ordered UUID; also the id of the hold. */
  readonly executionId: string;
  readonly accountId: string;
  readonly apiKeyId: string | null;
  readonly model: string;
  readonly endpoint: string;
  readonly amountMicroUsd: MicroUsd;
  /** When the hold is anybody's to release, whatever became of this process. */
  readonly expiresAt: Date;
}

/** How a synchronous call ended: charged, or failed with an error code. */
export interface ExecutionEnd {
  readonly executionId: string;
  readonly accountId: string;
  readonly chargedMicroUsd: MicroUsd | null;
  readonly errorCode: string | null;
  readonly provider: string | null;
  readonly providerRequestId: string | null;
}

/** What became of a start: missing is an unknown account, conflict an id used before. */
export type BeginOutcome = 'held' | 'insufficient' | 'conflict' | 'missing';
/** What became of an end: conflict is a hold resolved otherwise, excess a charge above its hold. */
export type FinishOutcome = 'done' | 'conflict' | 'excess' | 'missing';

/** The statements that write executions together with their holds; each may be repeated and answers the same. */
export class ExecutionStatements {
  readonly #begin: PreparedStatement<{ outcomes: BeginOutcome[] }>;
  readonly #finish: PreparedStatement<{ outcomes: FinishOutcome[] }>;
  readonly #reverse: PreparedStatement<{ reversed: boolean }>;

  constructor(dataSource: DataSource) {
    this.#begin = new PreparedStatement(
      dataSource,
      'execution_begin',
      'SELECT execution_begin($1, $2, $3, $4, $5, $6, $7, $8) AS outcomes',
    );
    this.#finish = new PreparedStatement(
      dataSource,
      'execution_finish',
      'SELECT execution_finish($1, $2, $3, $4, $5, $6) AS outcomes',
    );
    this.#reverse = new PreparedStatement(
      dataSource,
      'execution_reverse',
      'SELECT execution_reverse($1, $2, $3) AS reversed',
    );
  }

  /** Holds for each call in order of arrival and records those that are held. */
  async begin(
    accountId: string,
    processId: string,
    starts: readonly ExecutionStart[],
  ): Promise<BeginOutcome[]> {
    const [row] = await this.#begin.run([
      accountId,
      starts.map((start) => start.executionId),
      starts.map((start) => start.amountMicroUsd.toString()),
      starts.map((start) => start.expiresAt),
      starts.map((start) => start.apiKeyId),
      starts.map((start) => start.model),
      starts.map((start) => start.endpoint),
      processId,
    ]);
    return row?.outcomes ?? [];
  }

  /** Settles or releases for each call and records its end. */
  async finish(accountId: string, ends: readonly ExecutionEnd[]): Promise<FinishOutcome[]> {
    const [row] = await this.#finish.run([
      accountId,
      ends.map((end) => end.executionId),
      ends.map((end) => end.chargedMicroUsd?.toString() ?? null),
      ends.map((end) => end.errorCode),
      ends.map((end) => end.provider),
      ends.map((end) => end.providerRequestId),
    ]);
    return row?.outcomes ?? [];
  }

  /** Gives back the charge of a call that failed for its caller after all; false where there was none. */
  async reverse(end: ExecutionEnd): Promise<boolean> {
    const [row] = await this.#reverse.run([end.accountId, end.executionId, end.errorCode]);
    return row?.reversed ?? false;
  }
}

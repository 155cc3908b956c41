import type { DataSource } from 'typeorm';
import { PreparedStatement } from '../database/prepared-statement.js';
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

/** One step of a call: the hold before its provider, or what became of it after. */
export type ExecutionStep =
  | { readonly kind: 'begin'; readonly start: ExecutionStart }
  | { readonly kind: 'finish'; readonly end: ExecutionEnd };

interface CommitRow {
  readonly begun?: BeginOutcome[];
  readonly finished?: FinishOutcome[];
}

const BEGIN = 'execution_begin($1, $2, $3, $4, $5, $6, $7, $8) AS begun';
const FINISH = 'execution_finish($1, $2, $3, $4, $5, $6) AS finished';
const FINISH_AFTER_BEGIN = 'execution_finish($1, $9, $10, $11, $12, $13) AS finished';

/** The statements that write executions together with their holds; each may be repeated and answers the same. */
export class ExecutionStatements {
  readonly #begin: PreparedStatement<CommitRow>;
  readonly #finish: PreparedStatement<CommitRow>;
  readonly #both: PreparedStatement<CommitRow>;
  readonly #reverse: PreparedStatement<{ reversed: boolean }>;

  constructor(dataSource: DataSource) {
    const prepared = <Row extends object>(name: string, columns: string) =>
      new PreparedStatement<Row>(dataSource, name, `SELECT ${columns}`);
    this.#begin = prepared('execution_begin', BEGIN);
    this.#finish = prepared('execution_finish', FINISH);
    // What the ends of calls free is there for the calls that begin.
    this.#both = prepared('execution_both', `${FINISH_AFTER_BEGIN}, ${BEGIN}`);
    this.#reverse = prepared('execution_reverse', 'execution_reverse($1, $2, $3) AS reversed');
  }

  /**
   * Takes the steps of one account in one durable statement, the ends first: holds for each start in order of arrival and
   * records those that are held, settles or releases for each end and records it. Outcomes in the order of the steps.
   */
  async commit(
    accountId: string,
    processId: string,
    steps: readonly ExecutionStep[],
  ): Promise<(BeginOutcome | FinishOutcome)[]> {
    const starts = steps.flatMap((step) => (step.kind === 'begin' ? [step.start] : []));
    const ends = steps.flatMap((step) => (step.kind === 'finish' ? [step.end] : []));
    const [row] = await this.#run(accountId, processId, starts, ends);
    const outcomes = {
      begin: row?.begun?.values() ?? [].values(),
      finish: row?.finished?.values() ?? [].values(),
    };
    return steps.flatMap((step) => outcomes[step.kind].next().value ?? []);
  }

  /** Gives back the charge of a call that failed for its caller after all; false where there was none. */
  async reverse(end: ExecutionEnd): Promise<boolean> {
    const [row] = await this.#reverse.run([end.accountId, end.executionId, end.errorCode]);
    return row?.reversed ?? false;
  }

  #run(
    accountId: string,
    processId: string,
    starts: readonly ExecutionStart[],
    ends: readonly ExecutionEnd[],
  ): Promise<CommitRow[]> {
    if (ends.length === 0)
      return this.#begin.run([accountId, ...columnsOfStarts(starts), processId]);
    if (starts.length === 0) return this.#finish.run([accountId, ...columnsOfEnds(ends)]);
    const begin = [accountId, ...columnsOfStarts(starts), processId];
    return this.#both.run([...begin, ...columnsOfEnds(ends)]);
  }
}

function columnsOfStarts(starts: readonly ExecutionStart[]): unknown[] {
  return [
    starts.map((start) => start.executionId),
    starts.map((start) => start.amountMicroUsd.toString()),
    starts.map((start) => start.expiresAt),
    starts.map((start) => start.apiKeyId),
    starts.map((start) => start.model),
    starts.map((start) => start.endpoint),
  ];
}

function columnsOfEnds(ends: readonly ExecutionEnd[]): unknown[] {
  return [
    ends.map((end) => end.executionId),
    ends.map((end) => end.chargedMicroUsd?.toString() ?? null),
    ends.map((end) => end.errorCode),
    ends.map((end) => end.provider),
    ends.map((end) => end.providerRequestId),
  ];
}

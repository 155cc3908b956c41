import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { postgresJson } from '../../common/json-object.js';
import { arrayLiteral, type Column } from '../../platform/database/array-literal.js';
import { LOCKED } from '../../platform/database/batching/batcher-options.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { OutputCapReason } from '../../common/money/charge-basis.js';
import type {
  BeginResult,
  ExecutionEnd,
  ExecutionStart,
  ExecutionCommand,
  FinishOutcome,
} from './execution-commands.js';
import { RunPositions } from './run-positions.js';

interface StepRow {
  readonly ended: (FinishOutcome | 'locked')[];
  readonly begun: (BeginResult['outcome'] | 'locked')[];
  /** What each start holds, what was available to it, and which of them bound it. */
  readonly amounts: (string | null)[];
  readonly rooms: (string | null)[];
  readonly bounds: (OutputCapReason | null)[];
}

const STEP_PARAMETERS = 39;
const PARAMETERS = Array.from({ length: STEP_PARAMETERS }, (_, index) => `$${index + 1}`);

/** Statements that write executions and move their money. Each is idempotent and returns the same result again. */
export class ExecutionRepository {
  private readonly step: PreparedStatement<StepRow>;

  constructor(dataSource: DataSource) {
    this.step = new PreparedStatement(
      dataSource,
      'execution_step_v3',
      `SELECT * FROM execution_step_v3(${PARAMETERS.join(', ')})`,
    );
  }

  /**
   * Runs commands of many accounts in one durable statement. Ends come first: each settles or releases a hold and records
   * it. Then each start, in order of arrival, places a hold and is recorded if it is held. Returns the outcomes in the order
   * of the commands; LOCKED where another process has locked the account and `waits` is false.
   */
  async commit(
    processId: string,
    steps: readonly ExecutionCommand[],
    waits: boolean,
  ): Promise<(BeginResult | FinishOutcome | typeof LOCKED)[]> {
    const accountIds = [...new Set(steps.map((step) => step.accountId))].sort();
    const positions = new Map(accountIds.map((id, index) => [id, index + 1]));
    const positionOf = ({ accountId }: { accountId: string }) => positions.get(accountId);
    const runs = new RunPositions();
    const starts = steps.flatMap((step) => (step.kind === 'begin' ? [step.start] : []));
    const ends = steps.flatMap((step) => (step.kind === 'finish' ? [step.end] : []));
    const columns = [
      ends.map(positionOf),
      ...columnsOfEnds(ends),
      runs.column(ends),
      starts.map(positionOf),
      ...columnsOfStarts(starts, runs),
      runs.ids,
      runs.accountIds.map((accountId) => positions.get(accountId)),
    ];
    const [row] = await this.step.run([
      arrayLiteral(accountIds),
      processId,
      waits,
      ...columns.map((column) => arrayLiteral(column)),
    ]);
    assert(row, 'the statement returned nothing');
    const outcomes = { begin: resultsOfStarts(row).values(), finish: row.ended.values() };
    return steps.map((step) => {
      const outcome = outcomes[step.kind].next().value;
      assert(outcome, 'the statement returned fewer outcomes than commands');
      return outcome === 'locked' ? LOCKED : outcome;
    });
  }
}

const amountIn = (column: readonly (string | null)[], index: number): MicroUsd | null => {
  const amount = column[index] ?? null;
  return amount === null ? null : BigInt(amount);
};

function resultsOfStarts({ begun, ...row }: StepRow): (BeginResult | 'locked')[] {
  return begun.map((outcome, index) => {
    switch (outcome) {
      case 'held': {
        const amountMicroUsd = amountIn(row.amounts, index) ?? 0n;
        return { outcome, amountMicroUsd, capReason: row.bounds[index] ?? null };
      }
      case 'insufficient':
      case 'over_limit':
      case 'over_run':
        return { outcome, availableMicroUsd: amountIn(row.rooms, index) ?? 0n };
      case 'run_conflict':
        return { outcome, limitMicroUsd: amountIn(row.rooms, index) };
      case 'locked':
        return outcome;
      case 'conflict':
      case 'missing':
        return { outcome };
    }
  });
}

function columnsOfStarts(starts: readonly ExecutionStart[], runs: RunPositions): Column[] {
  return [
    starts.map((start) => start.executionId),
    starts.map((start) => start.amountMicroUsd.toString()),
    starts.map(({ fit }) => fit?.floorMicroUsd.toString() ?? null),
    starts.map(({ fit }) => fit?.promptMicroUsd.toString() ?? null),
    starts.map((start) => start.apiKeyId),
    starts.map(({ isCapped = false }) => isCapped),
    starts.map((start) => start.model),
    starts.map((start) => start.endpoint),
    starts.map((start) => start.clientRequestId),
    runs.column(starts),
    columnOfRunLimits(starts),
    columnOfPriceBooks(starts),
  ];
}

/** Empty where no start has one. */
function columnOfPriceBooks(starts: readonly ExecutionStart[]): Column {
  if (starts.every(({ priceBook }) => priceBook === undefined)) return [];
  return starts.map(({ priceBook = null }) => priceBook && JSON.stringify(priceBook));
}

/** Empty where no start has a run. */
function columnOfRunLimits(starts: readonly ExecutionStart[]): Column {
  if (starts.every(({ run }) => run === undefined)) return [];
  return starts.map(({ run }) => run?.limitMicroUsd?.toString() ?? null);
}

function columnsOfEnds(ends: readonly ExecutionEnd[]): Column[] {
  return [
    ends.map((end) => end.executionId),
    ends.map((end) => end.chargedMicroUsd?.toString() ?? null),
    ends.map((end) => end.errorCode),
    ends.map((end) => end.provider),
    ends.map((end) => end.upstreamModel),
    ends.map((end) => end.providerRequestId),
    ends.map(({ basis }) => basis?.unit ?? null),
    ends.map(({ basis }) => basis && JSON.stringify(basis.quantity)),
    ends.map(({ basis }) => basis && JSON.stringify(basis.unitPrice)),
    ends.map(({ basis }) => basis?.isEstimated ?? null),
    ends.map((end) => end.firstByteMs),
    ends.map((end) => end.durationMs),
    ends.map(({ providerFault }) => providerFault && postgresJson(providerFault)),
    ends.map(({ isCapped = false }) => isCapped),
    ends.map(({ providerFigures = null }) => providerFigures && JSON.stringify(providerFigures)),
    ends.map(({ uncharged = null }) => uncharged && JSON.stringify(uncharged)),
    ends.map(({ outputCap = null }) => outputCap),
    columnOfCosts(ends),
    columnOfAttempts(ends),
  ];
}

/** Empty where no end has any. */
function columnOfAttempts(ends: readonly ExecutionEnd[]): Column {
  if (ends.every(({ attempts }) => (attempts ?? null) === null)) return [];
  return ends.map(({ attempts = null }) => attempts && postgresJson(attempts));
}

/** Empty where no end has one. */
function columnOfCosts(ends: readonly ExecutionEnd[]): Column {
  if (ends.every(({ costMicroUsd }) => (costMicroUsd ?? null) === null)) return [];
  return ends.map(({ costMicroUsd }) => costMicroUsd?.toString() ?? null);
}

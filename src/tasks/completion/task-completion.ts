import assert from 'node:assert/strict';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { toPublicId } from '../../common/ids/public-id.js';
import { type JsonObject, postgresJson } from '../../common/json-object.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { Catalog } from '../../catalog/catalog.js';
import { BatchedFunction } from '../../platform/database/batching/batched-function.js';
import { WebhookDeliveries } from '../../webhooks/webhook-deliveries.js';
import { DatabaseClock } from './database-clock.js';
import { retryTransient } from '../../platform/database/retry-transient.js';
import {
  type Task,
  TASK_FAILED,
  type TaskContent,
  type TaskError,
  type TaskFault,
} from '../task.js';
import { costOfTask } from '../task-cost.js';
import type { TaskBill } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { runsHere } from '../task-lane.js';
import { TaskRepository } from '../reads/task.repository.js';
import { type EndEvent, TRANSITIONS } from '../task-state-machine.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { argumentsOf, TASK_END_FUNCTION } from './task-end-function.js';
import { TaskMetrics } from '../task-metrics.js';
import { LongPoll } from '../reads/long-poll.js';

/** Updates long polls and metrics of this process when a task has ended. */
@Injectable()
export class CompletionListeners {
  constructor(
    private readonly longPoll: LongPoll,
    private readonly metrics: TaskMetrics,
    private readonly money: Metrics,
  ) {}

  notify(task: Task, isNewCost: boolean): void {
    const { id, kind, status, model, chargedMicroUsd: charge, costMicroUsd: cost } = task;
    this.longPoll.ended(id, status);
    this.metrics.ended.inc({ kind, status });
    if (charge !== null) {
      this.money.chargedMicroUsd.inc({ model }, Number(charge));
      const quantity = task.basis?.quantity;
      if (typeof quantity === 'object') this.money.countTokens(model, quantity);
    }
    if (charge === null && status !== 'reconciliation_required')
      this.money.failedCalls.inc({ model });
    if (isNewCost) this.money.countCost(model, cost, charge ?? undefined);
  }
}

/** How a task ends. */
export interface Completion {
  readonly event: EndEvent;
  /** The fence under which the step ran. Null for operators, key holders and reversals, which have none. */
  readonly fence: string | null;
  readonly result?: JsonObject;
  readonly error?: TaskError;
  /** Default: the whole hold, or nothing for a task whose hold is released. */
  readonly chargedMicroUsd?: MicroUsd;
  /** The provider's message about its failure. */
  readonly fault?: TaskFault | undefined;
  readonly progress?: number | null;
  readonly stepState?: JsonObject | undefined;
  readonly content?: TaskContent;
  /** The charge that is known only at the end, with its basis; it comes before `chargedMicroUsd`. */
  readonly bill?: TaskBill | undefined;
  /** What work that failed costs at its provider, where its report says so. */
  readonly costMicroUsd?: MicroUsd | null | undefined;
  /** For the `ending` of the kind. */
  readonly answer?: object | undefined;
  /** Milliseconds until the first poll for a late result of the job, if it has one. Default: no such poll. */
  readonly watchMs?: number;
}

/** Wraps every try to commit a completion. */
export type AroundTry = <T>(attempt: () => Promise<T>) => Promise<T>;

/** What callers are told of work whose outcome is not known. */
export const WORK_LOST = 'The work was lost before its end.';
const NO_DELIVERY: unknown[] = [null, null, null, null, null, null];

/**
 * The only class that ends tasks. Status, settlement or release, and the webhook with its frozen body commit together
 * or not at all (ADR 0012; decisions G-53 to G-56).
 */
@Injectable()
export class TaskCompletion {
  private readonly logger = new Logger('Tasks');
  private readonly endFunction: BatchedFunction<{ ended: boolean }>;
  private readonly clock: DatabaseClock;

  constructor(
    dataSource: DataSource,
    private readonly kinds: TaskKinds,
    private readonly deliveries: WebhookDeliveries,
    private readonly repository: TaskRepository,
    private readonly listeners: CompletionListeners,
    private readonly catalog: Catalog,
  ) {
    this.endFunction = new BatchedFunction(dataSource, TASK_END_FUNCTION);
    this.clock = new DatabaseClock(dataSource);
  }

  /** Ends the task and returns it. Undefined if its state or fence no longer allows that; then nothing has changed. */
  async end(
    task: Task,
    completion: Completion,
    patienceMs: number,
    around: AroundTry = (attempt) => attempt(),
  ): Promise<Task | undefined> {
    const tried: { times: number; task?: Task; values?: unknown[] } = { times: 0 };
    const commit = async (): Promise<boolean> => {
      const ended = (tried.task ??= this.completedTask(task, completion, await this.clock.now()));
      tried.values ??= await this.valuesOf(ended, completion);
      tried.times += 1;
      return (await this.endFunction.run(tried.values)).ended;
    };
    const isEnded = await retryTransient(() => around(commit), patienceMs);
    const { task: ended } = tried;
    assert(ended, 'no commit was tried');
    // If the response to the first commit was lost, the retry is refused although the first try was committed.
    if (!isEnded && (tried.times === 1 || !(await this.wasEndedBefore(ended)))) return undefined;
    this.listeners.notify(ended, task.costMicroUsd === null);
    // Not awaited: slow storage may need minutes. A file that is not deleted before the process ends expires by itself.
    this.kinds
      .of(ended.kind)
      .ended?.(ended)
      .catch((error: unknown) => {
        this.logger.warn(
          `${toPublicId('task', ended.id)}: cannot delete files that its work needed: ${String(error)}`,
        );
      });
    return ended;
  }

  /**
   * How a task ends whose outcome is not known. That of a kind that runs here failed, as a synchronous call does when its process
   * dies: its hold is released.
   */
  lossOf({ kind }: Task): Pick<Completion, 'event' | 'error'> {
    return runsHere(kind)
      ? { event: 'failed', error: { code: TASK_FAILED, message: WORK_LOST } }
      : { event: 'unknown' };
  }

  private async valuesOf(ended: Task, completion: Completion): Promise<unknown[]> {
    const ending = await this.kinds.of(ended.kind).ending?.(ended, completion.answer);
    const { bill } = completion;
    return [
      ...argumentsOf(ended, completion),
      ...this.deliveryOf(ended, ending?.told),
      ended.costMicroUsd?.toString() ?? null,
      bill ? JSON.stringify(bill.basis) : null,
      ending?.stored ? JSON.stringify(ending.stored) : null,
    ];
  }

  /** The webhook with its frozen body, as arguments of the SQL function. */
  private deliveryOf(ended: Task, told: object | undefined): unknown[] {
    const body = this.kinds.webhookBodyOf(ended, told);
    if (!body || !ended.webhook) return NO_DELIVERY;
    return this.deliveries.columnsOf({ ...ended.webhook, accountId: ended.accountId, body });
  }

  private async wasEndedBefore(ended: Task): Promise<boolean> {
    const now = await this.repository.find(ended.id, ended.accountId);
    return (
      now?.status === ended.status && now.completedAt?.getTime() === ended.completedAt?.getTime()
    );
  }

  /**
   * The task as it will be read after its completion; the SQL function writes it as it is here. JSON is stringified and
   * parsed, as in the database.
   */
  private completedTask(task: Task, completion: Completion, now: Date): Task {
    const { to } = TRANSITIONS[completion.event];
    const charge = chargeOf(task, completion);
    const known = greater(task.progress, completion.progress ?? null);
    const ended = { ...task, status: to, stepState: completion.stepState ?? task.stepState };
    return {
      ...ended,
      progress: to === 'succeeded' && known !== null ? 100 : known,
      result: completion.result
        ? (JSON.parse(postgresJson(completion.result)) as JsonObject)
        : null,
      error: completion.error ?? null,
      fault: completion.fault ?? task.fault,
      chargedMicroUsd: charge,
      costMicroUsd: this.costAfter(ended, completion),
      basis: completion.bill?.basis ?? basisAfter(task, charge),
      content: completion.content ?? task.content,
      completedAt: new Date(Math.max(now.getTime(), task.createdAt.getTime())),
    };
  }

  private costAfter(ended: Task, { bill, costMicroUsd }: Completion): MicroUsd | null {
    if (bill) return bill.costMicroUsd;
    const known = ended.costMicroUsd ?? costMicroUsd;
    return known ?? costOfTask(ended, this.catalog.reportedCostOf(ended.provider));
  }
}

/** An amount chosen by an operator has no basis. */
function basisAfter({ reservedMicroUsd, basis }: Task, charge: MicroUsd | null) {
  return charge !== null && charge !== reservedMicroUsd ? null : basis;
}

/** The charge of the completion; null if nothing is settled. */
function chargeOf(
  { reservedMicroUsd }: Task,
  { event, bill, chargedMicroUsd = bill?.chargedMicroUsd }: Completion,
): MicroUsd | null {
  const { money } = TRANSITIONS[event];
  if (money === 'settle') return chargedMicroUsd ?? reservedMicroUsd;
  return money === 'settle_anew' ? (chargedMicroUsd ?? 0n) : null;
}

function greater(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

import assert from 'node:assert/strict';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { toPublicId } from '../../common/ids/public-id.js';
import type { JsonObject } from '../../common/json-object.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { BatchedFunction } from '../../platform/database/batching/batched-function.js';
import { WebhookDeliveries } from '../../webhooks/webhook-deliveries.js';
import { CompletionListeners } from './completion-listeners.js';
import { DatabaseClock } from './database-clock.js';
import { retryTransient } from '../retry-transient.js';
import { postgresJson } from '../../common/postgres-json.js';
import type { Task, TaskContent, TaskError, TaskFault } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import { laneOf } from '../task-lane.js';
import { TaskRepository } from '../reads/task.repository.js';
import { type EndEvent, TRANSITIONS } from '../task-state-machine.js';

/** How a task ends. */
export interface Completion {
  readonly event: EndEvent;
  /** The fence under which the step ran. Null for operators, key holders and owed cancellations, which have none. */
  readonly fence: string | null;
  readonly result?: JsonObject;
  readonly error?: TaskError;
  /** Default: the whole hold; nothing for a task whose hold is released. */
  readonly chargedMicroUsd?: MicroUsd;
  /** What the provider said about its failure. */
  readonly fault?: TaskFault | undefined;
  readonly progress?: number | null;
  readonly memory?: JsonObject | undefined;
  readonly content?: TaskContent;
  /** Milliseconds until the provider is asked how its job, if it has one, ended after all; absent: never. */
  readonly watchMs?: number;
}

/** Wraps every try of an end. */
export type AroundTry = <T>(attempt: () => Promise<T>) => Promise<T>;

/** Simultaneous ends share statements, because ends of one account would wait for each other. */
export const TASK_ENDS = {
  name: 'task_end_explaining',
  types: [
    ...['uuid', 'uuid', 'bigint', 'text', 'text', 'text', 'bigint', 'smallint', 'json', 'json'],
    ...['text', 'text', 'json', 'timestamptz', 'text', 'bigint', 'boolean', 'json'],
    ...['uuid', 'text', 'text', 'text', 'bytea', 'timestamptz'],
  ],
  answers: ['ended'],
  locks: { name: 'task_end_lock', parameters: 2 },
  maxBatch: 64,
  maxStatements: 2,
} as const;
const NO_DELIVERY: unknown[] = [null, null, null, null, null, null];

/**
 * The only class that ends tasks. Status, settlement or release, and the webhook with its frozen body commit together
 * or not at all (ADR 0012; decisions G-53 to G-56).
 */
@Injectable()
export class TaskCompletion {
  private readonly logger = new Logger('Tasks');
  readonly #end: BatchedFunction<{ ended: boolean }>;
  readonly #times: DatabaseClock;

  constructor(
    dataSource: DataSource,
    private readonly kinds: TaskKinds,
    private readonly deliveries: WebhookDeliveries,
    private readonly reader: TaskRepository,
    private readonly listeners: CompletionListeners,
  ) {
    this.#end = new BatchedFunction(dataSource, TASK_ENDS);
    this.#times = new DatabaseClock(dataSource);
  }

  /** The ended task. Undefined when its state or fence no longer allowed the end; then nothing has changed. */
  async end(
    task: Task,
    ending: Completion,
    patienceMs: number,
    around: AroundTry = (attempt) => attempt(),
  ): Promise<Task | undefined> {
    const tried: { times: number; task?: Task; values?: unknown[] } = { times: 0 };
    const commit = async (): Promise<boolean> => {
      const ended = (tried.task ??= this.afterEnding(task, ending, await this.#times.now()));
      tried.values ??= [...argumentsOf(ended, ending), ...this.deliveryOf(ended)];
      tried.times += 1;
      return (await this.#end.run(tried.values)).ended;
    };
    const isEnded = await retryTransient(() => around(commit), patienceMs);
    const { task: ended } = tried;
    assert(ended, 'a commit was tried');
    // If the answer of the commit was lost, the repetition is refused, although the first try was committed.
    if (!isEnded && (tried.times === 1 || !(await this.wasEndedBefore(ended)))) return undefined;
    this.listeners.tell(ended);
    // Not awaited: a slow store may need minutes. A file that is not deleted before the process ends expires.
    this.kinds
      .of(ended.kind)
      .ended?.(ended)
      .catch((error: unknown) => {
        this.logger.warn(
          `${toPublicId('task', ended.id)}: what its work needed is not deleted: ${String(error)}`,
        );
      });
    return ended;
  }

  /** The webhook with its frozen body, as the function takes it. */
  private deliveryOf(ended: Task): unknown[] {
    const body = this.kinds.webhookBodyOf(ended);
    if (!body || !ended.webhook) return NO_DELIVERY;
    return this.deliveries.columnsOf({ ...ended.webhook, accountId: ended.accountId, body });
  }

  private async wasEndedBefore(ended: Task): Promise<boolean> {
    const now = await this.reader.find(ended.id, ended.accountId);
    return (
      now?.status === ended.status && now.completedAt?.getTime() === ended.completedAt?.getTime()
    );
  }

  /** The task as readers will see it. JSON is stringified and parsed, as in the database. */
  private afterEnding(task: Task, ending: Completion, now: Date): Task {
    const { to } = TRANSITIONS[ending.event];
    const charge = chargeOf(task, ending);
    const known = greater(task.progress, ending.progress ?? null);
    return {
      ...task,
      status: to,
      progress: to === 'succeeded' && known !== null ? 100 : known,
      memory: ending.memory ?? task.memory,
      result: ending.result ? (JSON.parse(postgresJson(ending.result)) as JsonObject) : null,
      error: ending.error ?? null,
      fault: ending.fault ?? task.fault,
      chargedMicroUsd: charge,
      // An amount that an operator chose has no basis. The database deletes it in the same way.
      basis: charge !== null && charge !== task.reservedMicroUsd ? null : task.basis,
      content: ending.content ?? task.content,
      completedAt: new Date(Math.max(now.getTime(), task.createdAt.getTime())),
    };
  }
}

/** What the end charges; null if nothing is settled. */
function chargeOf(
  { reservedMicroUsd }: Task,
  { event, chargedMicroUsd }: Completion,
): MicroUsd | null {
  const { money } = TRANSITIONS[event];
  if (money === 'settle') return chargedMicroUsd ?? reservedMicroUsd;
  return money === 'settle_anew' ? (chargedMicroUsd ?? 0n) : null;
}

/** The arguments of the function that come before the webhook's. */
function argumentsOf(task: Task, ending: Completion): unknown[] {
  const { from, money } = TRANSITIONS[ending.event];
  const watch = ending.watchMs === undefined ? null : laneOf('watching', task.provider);
  return [
    task.accountId,
    task.id,
    ending.fence,
    `{${from.join(',')}}`,
    task.status,
    money,
    ...factsOf(task),
    watch,
    ending.watchMs ?? null,
    ending.event === 'cancelled',
    ending.fault && postgresJson(ending.fault),
  ];
}

/** The columns that an end writes, in the order of the function's parameters. */
function factsOf(task: Task): unknown[] {
  const { error, chargedMicroUsd: charge } = task;
  return [
    charge === null ? null : charge.toString(),
    task.progress,
    postgresJson(task.memory),
    task.result && postgresJson(task.result),
    error?.code,
    error?.message,
    task.content && postgresJson(task.content),
    task.completedAt,
  ];
}

function greater(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

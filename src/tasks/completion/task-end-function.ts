import { postgresJson } from '../../common/json-object.js';
import { laneOf } from '../task-lane.js';
import { type EndEvent, TRANSITIONS } from '../task-state-machine.js';
import type { Task } from '../task.js';

/** Concurrent completions share statements, because those of one account would wait for each other's lock. */
export const TASK_END_FUNCTION = {
  name: 'task_complete',
  types: [
    ...[
      'uuid',
      'uuid',
      'bigint',
      'text',
      'boolean',
      'text',
      'text',
      'bigint',
      'boolean',
      'smallint',
    ],
    ...['json', 'json', 'text', 'text', 'json', 'json', 'timestamptz', 'text', 'bigint'],
    ...['uuid', 'text', 'text', 'text', 'bytea', 'timestamptz', 'bigint', 'jsonb', 'json'],
  ],
  answers: ['ended'],
  locks: { name: 'task_end_lock', parameters: 2 },
  maxBatch: 64,
  maxStatements: 2,
} as const;
/** What of a completion is not in the task that has ended. */
interface EndTerms {
  readonly event: EndEvent;
  readonly fence: string | null;
  readonly watchMs?: number;
}

/** The arguments of the SQL function before those of the webhook. */
export function argumentsOf(task: Task, completion: EndTerms): unknown[] {
  const { from, money } = TRANSITIONS[completion.event];
  const watch = completion.watchMs === undefined ? null : laneOf('watching', task);
  return [
    task.accountId,
    task.id,
    completion.fence,
    `{${from.join(',')}}`,
    completion.event === 'cancelled',
    task.status,
    money,
    ...columnsOf(task),
    watch,
    completion.watchMs ?? null,
  ];
}

/** The columns that a completion writes, in the order of the function's parameters. */
function columnsOf(task: Task): unknown[] {
  const { error, chargedMicroUsd: charge } = task;
  return [
    charge === null ? null : charge.toString(),
    task.basis !== null,
    task.progress,
    postgresJson(task.stepState),
    task.result && postgresJson(task.result),
    error?.code,
    error?.message,
    task.fault && postgresJson(task.fault),
    task.content && postgresJson(task.content),
    task.completedAt,
  ];
}

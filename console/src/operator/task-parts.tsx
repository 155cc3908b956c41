import type { Shape } from '../shared/api.js';

/** A task as operators see it; a video has fields of its own. */
export type AnyTask = Shape<'AdminTaskView'> | Shape<'AdminVideoTaskView'>;

const MICRO = 1e6;

/** Epoch seconds of the submission. */
export const createdOf = (task: AnyTask): number =>
  'created_at' in task ? task.created_at : task.created;

/** Epoch seconds of the end; null before it. */
export const endedOf = (task: AnyTask): number | null =>
  'completed_at' in task ? task.completed_at : task.completed;

/** Micro-USD charged; null until it is settled. A video tells dollars as a number. */
export function chargedOf(task: AnyTask): string | null {
  if ('charged_microusd' in task) return task.charged_microusd;
  return task.cost === null ? null : Math.round(task.cost * MICRO).toString();
}

/** Micro-USD held; of a video, the sum of its lines. */
export function heldOf(task: AnyTask): string | null {
  if ('reserved_microusd' in task) return task.reserved_microusd;
  if (task.lines === null) return null;
  return task.lines
    .reduce((sum, line) => sum + BigInt(line.amount_microusd.split('.')[0] ?? 0), 0n)
    .toString();
}

/** Whether nothing more will happen to it by itself. */
export const isOver = (task: AnyTask): boolean =>
  task.task_status !== 'queued' && task.task_status !== 'processing';

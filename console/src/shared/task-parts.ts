import type { Shape } from './api.js';
import type { Filter } from './filters.js';

/** A task as operators see it; a video has fields of its own. */
export type AnyTask = Shape<'AdminTaskView'> | Shape<'AdminVideoTaskView'>;
/** A task as the holder of the account sees it. */
export type OwnTask = Shape<'TaskView'> | Shape<'VideoTaskView'>;

const MICRO = 1e6;
const STATES = [
  'queued',
  'processing',
  'succeeded',
  'failed',
  'expired',
  'reconciliation_required',
] as const;

/** Filters of each list of tasks. */
export const TASK_FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    choices: [['', 'Any'], ...STATES.map((state) => [state, state.replaceAll('_', ' ')] as const)],
  },
  {
    name: 'modality',
    label: 'Makes',
    choices: [
      ['', 'Anything'],
      ['audio', 'Audio'],
      ['image', 'Images'],
      ['video', 'Video'],
      ['text', 'Text'],
    ],
  },
];

/** What the file of a task is, where its name does not tell it. */
export function mediaKindOf(task: AnyTask | OwnTask): 'audio' | 'video' | 'file' {
  const { result } = task;
  const type = result !== null && 'content_type' in result ? result.content_type : null;
  if (type?.startsWith('application/json')) return 'file';
  const hasVideo = result !== null && 'has_video' in result && result.has_video === true;
  return hasVideo || 'created' in task ? 'video' : 'audio';
}

/** Epoch seconds of the submission. */
export const createdOf = (task: AnyTask | OwnTask): number =>
  'created_at' in task ? task.created_at : task.created;

/** Epoch seconds of the end; null before it. */
export const endedOf = (task: AnyTask | OwnTask): number | null =>
  'completed_at' in task ? task.completed_at : task.completed;

/** Micro-USD charged; null until it is settled. A video tells dollars as a number. */
export function chargedOf(task: AnyTask | OwnTask): string | null {
  if ('charged_microusd' in task) return task.charged_microusd;
  return task.cost === null ? null : Math.round(task.cost * MICRO).toString();
}

/** Micro-USD held; of a video, the sum of its lines, which operators see. */
export function heldOf(task: AnyTask | OwnTask): string | null {
  if ('reserved_microusd' in task) return task.reserved_microusd;
  if (!('lines' in task) || task.lines === null) return null;
  return task.lines
    .reduce((sum, line) => sum + BigInt(line.amount_microusd.split('.')[0] ?? 0), 0n)
    .toString();
}

const UNDER_WAY: readonly string[] = ['queued', 'processing', 'in_progress'];

/** Whether nothing more will happen to it by itself. */
export const isOver = (task: AnyTask | OwnTask): boolean =>
  !UNDER_WAY.includes('task_status' in task ? task.task_status : task.status);

import type { TaskStatus } from './task.js';

/** What happens to a task's hold. `settle_anew`: it is released, and what is charged, if anything, gets a hold of its own. */
export type MoneyVerb = 'settle' | 'release' | 'keep' | 'settle_anew';

/** A way from one state to another. */
export interface Transition {
  readonly from: readonly TaskStatus[];
  readonly to: TaskStatus;
  readonly money: MoneyVerb;
}

/**
 * Every transition of a task, and what happens to its money (API: Task states; decisions G-53, G-54, G-102).
 */
export const TRANSITIONS = {
  accepted: { from: ['queued'], to: 'processing', money: 'keep' },
  succeeded: { from: ['processing'], to: 'succeeded', money: 'settle' },
  failed: { from: ['queued', 'processing'], to: 'failed', money: 'release' },
  cancelled: { from: ['queued'], to: 'failed', money: 'release' },
  expired: { from: ['queued', 'processing'], to: 'expired', money: 'release' },
  unknown: { from: ['queued', 'processing'], to: 'reconciliation_required', money: 'keep' },
  resolvedAsSucceeded: { from: ['reconciliation_required'], to: 'succeeded', money: 'settle' },
  resolvedAsFailed: { from: ['reconciliation_required'], to: 'failed', money: 'release' },
  // Its provider succeeded after all, and an operator had the result collected.
  deliveredLate: { from: ['failed', 'expired'], to: 'succeeded', money: 'settle_anew' },
  // Its submission was answered with an error (docs/adr/0009).
  undone: {
    from: ['queued', 'processing', 'reconciliation_required'],
    to: 'failed',
    money: 'release',
  },
} as const satisfies Record<string, Transition>;

/** What happens to a task. */
export type TaskEvent = keyof typeof TRANSITIONS;

/** An event that ends all automatic work on a task. Only an operator can change it afterwards. */
export type EndEvent = Exclude<TaskEvent, 'accepted'>;

/** States at which clients stop polling (API: Task states). */
export const FINAL_STATUSES = [
  'succeeded',
  'failed',
  'expired',
  'reconciliation_required',
] as const satisfies readonly TaskStatus[];

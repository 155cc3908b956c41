import type { TaskStatus } from './task.js';

/** What happens to a task's hold. `settle_anew`: the hold was released; a charge, if any, is held and settled anew. */
export type MoneyVerb = 'settle' | 'release' | 'keep' | 'settle_anew';

/** A transition between states. */
export interface Transition {
  readonly from: readonly TaskStatus[];
  readonly to: TaskStatus;
  readonly money: MoneyVerb;
}

/**
 * All transitions of a task and what happens to its hold (API: Task states; decisions G-53, G-54, G-102).
 */
export const TRANSITIONS = {
  accepted: { from: ['queued'], to: 'processing', money: 'keep' },
  succeeded: { from: ['processing'], to: 'succeeded', money: 'settle' },
  failed: { from: ['queued', 'processing'], to: 'failed', money: 'release' },
  cancelled: { from: ['queued'], to: 'failed', money: 'release' },
  expired: { from: ['queued', 'processing'], to: 'expired', money: 'release' },
  unknown: { from: ['queued', 'processing'], to: 'reconciliation_required', money: 'keep' },
  // By what the provider said later, or by an operator.
  resolvedAsSucceeded: { from: ['reconciliation_required'], to: 'succeeded', money: 'settle' },
  resolvedAsFailed: { from: ['reconciliation_required'], to: 'failed', money: 'release' },
  // The provider succeeded late, and an operator had the result collected.
  deliveredLate: { from: ['failed', 'expired'], to: 'succeeded', money: 'settle_anew' },
  // The submission got an error response (docs/architecture/adr/0009).
  undone: {
    from: ['queued', 'processing', 'reconciliation_required'],
    to: 'failed',
    money: 'release',
  },
} as const satisfies Record<string, Transition>;

/** The name of a transition. */
export type TaskEvent = keyof typeof TRANSITIONS;

/** An event that ends a task. Afterwards only what its provider says of an unknown outcome changes it, or an operator. */
export type EndEvent = Exclude<TaskEvent, 'accepted'>;

/** Statuses at which clients stop polling (API: Task states). */
export const FINAL_STATUSES = [
  'succeeded',
  'failed',
  'expired',
  'reconciliation_required',
] as const satisfies readonly TaskStatus[];

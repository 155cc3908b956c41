/**
 * A worker leases claimed work for this long, and renews the lease while the step runs. Afterwards others may take the
 * work.
 */
export const LEASE_MS = 30_000;

/** The kinds of steps; each has its own limits. */
export type TaskStep = 'submit' | 'poll' | 'collect' | 'watch';

/** The next step of the work on a task; never shown to callers. */
export type TaskPhase = 'waiting' | 'submitting' | 'polling' | 'collecting' | 'watching';

const STEP_OF_PHASE: Readonly<Record<TaskPhase, TaskStep>> = {
  waiting: 'submit',
  submitting: 'submit',
  polling: 'poll',
  collecting: 'collect',
  watching: 'watch',
};

/**
 * Steps of one provider that one process runs at once, at most two thirds of them of one account. Files are large, so few are
 * fetched at once.
 */
export const LANE_CONCURRENCY: Readonly<Record<TaskStep, number>> = {
  submit: 96,
  poll: 512,
  collect: 12,
  watch: 24,
};

/**
 * An account takes no further place of a lane once it has this many times as many as are then free. Alone it gets two thirds of
 * the lane, two accounts get two fifths each, and there is always a place for an account that has none.
 */
export const SHARE_OF_FREE = 2;

/** The queue of the work: one per step and provider, so that a slow provider delays only its own tasks. */
export function laneOf(phase: TaskPhase, provider: string): string {
  return `${STEP_OF_PHASE[phase]}/${provider}`;
}

/** The step of a lane. */
export function stepOf(lane: string): TaskStep {
  return lane.slice(0, lane.indexOf('/')) as TaskStep;
}

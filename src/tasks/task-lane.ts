/** How long claimed work is its worker's before others may take it over; renewed while its step runs. */
export const LEASE_MS = 30_000;

/** What a step does; each has bounds of its own. */
export type TaskStep = 'submit' | 'poll' | 'collect' | 'watch';

/** Where the work on a task stands; never shown. */
export type TaskPhase = 'waiting' | 'submitting' | 'polling' | 'collecting' | 'watching';

const STEP_OF_PHASE: Readonly<Record<TaskPhase, TaskStep>> = {
  waiting: 'submit',
  submitting: 'submit',
  polling: 'poll',
  collecting: 'collect',
  watching: 'watch',
};

/** Steps of one provider that one process has under way at once. Files are large, so few are fetched together. */
export const LANE_ROOMS: Readonly<Record<TaskStep, number>> = {
  submit: 64,
  poll: 512,
  collect: 8,
  watch: 16,
};

/** The queue that the work waits in: one per step and provider, so that a slow provider delays only its own tasks. */
export function laneOf(phase: TaskPhase, provider: string): string {
  return `${STEP_OF_PHASE[phase]}/${provider}`;
}

/** The step that a lane is for. */
export function stepOf(lane: string): TaskStep {
  return lane.slice(0, lane.indexOf('/')) as TaskStep;
}

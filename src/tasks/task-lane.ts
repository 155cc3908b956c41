import type { Operation } from '../providers/ports/provider-ports.js';

/**
 * Length of a worker's lease on claimed work. It is renewed while the step runs. After it has ended, other workers may claim
 * the work.
 */
export const LEASE_MS = 30_000;

/** Calls that may become tasks (`Prefer: respond-async`): the kind of task has the name of the operation. */
export const CALL_KINDS = [
  'speech',
  'dialogue',
  'transcription',
  'alignment',
  'voice-change',
  'isolation',
  'sound-effect',
  'composition',
  'image',
] as const satisfies readonly Operation[];

/** The kinds of steps. Each has its own concurrency. */
export type TaskStep = 'submit' | 'run' | 'call' | 'poll' | 'collect' | 'watch';

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
 * Most concurrent steps per provider in one process, at most two thirds of them of one account. Files are large, so few are
 * downloaded at once.
 */
export const LANE_CONCURRENCY: Readonly<Record<TaskStep, number>> = {
  submit: 96,
  run: 96,
  call: 32,
  poll: 512,
  collect: 12,
  watch: 24,
};

/**
 * An account may use at most this many times the free capacity of a lane: alone two thirds of the lane, two accounts two
 * fifths each. So an account with no step in the lane can always start one.
 */
export const SHARE_OF_FREE = 2;

/**
 * Kinds whose work is done within `submit`, by the process that calls it, and their steps: meanwhile the task is `processing`. The
 * work of a process that died is lost, so the task fails where that of another kind would be `reconciliation_required`. Answers in
 * the background are streamed; those of other calls are files, so fewer are made at once.
 */
const RUN_HERE: ReadonlyMap<string, 'run' | 'call'> = new Map([
  ['response', 'run'],
  ...CALL_KINDS.map((kind) => [kind, 'call'] as const),
]);

/** Whether the tasks of a kind are run by a process of the gateway itself. */
export function runsHere(kind: string): boolean {
  return RUN_HERE.has(kind);
}

/**
 * The queue of a step: one per step and provider, so that a slow provider delays only its own tasks. Runs and calls have lanes of
 * their own: they take long, and processes of version 0.1.0, which do not know their kinds, claim none of these.
 */
export function laneOf(
  phase: TaskPhase,
  { provider, kind }: { readonly provider: string; readonly kind: string },
): string {
  const step = STEP_OF_PHASE[phase];
  const own = step === 'submit' ? RUN_HERE.get(kind) : undefined;
  return `${own ?? step}/${provider}`;
}

/** The step of a lane. */
export function stepOf(lane: string): TaskStep {
  return lane.slice(0, lane.indexOf('/')) as TaskStep;
}

import { Magic } from '../magic-inputs.js';

const DEFAULT_WORK_MS = 1000;
const MAX_WORK_MS = 7 * 24 * 3_600_000;
/** The share of the working time for which a job waits before it starts. */
const QUEUED_SHARE = 0.1;

/** Everything about a job, as JSON. */
export interface JobRecord<Facts = unknown> {
  readonly id: string;
  /** What the job does, such as `dubbing`. An id is found only together with its kind. */
  readonly kind: string;
  /** Says what was requested: two submissions of the same work have the same label. */
  readonly label: string;
  /** What the protocol needs to answer polls. */
  readonly facts: Facts;
  readonly createdMs: number;
  /** The magic inputs of the submission, as text. */
  readonly words: string;
}

/** The state of a job at one moment. */
export interface JobState {
  readonly phase: 'queued' | 'working' | 'done' | 'failed';
  /** A state word that replaces the protocol's own (`task-state`). */
  readonly word: string | undefined;
  /** 0 to 100, or the value of `task-progress`. */
  readonly progress: number;
}

/**
 * Work that was accepted and is finished later. It waits, works, then succeeds or fails; only the clock decides when.
 * Its magic inputs are those of its submission.
 */
export class Job<Facts = unknown> {
  readonly magic: Magic;

  constructor(readonly record: JobRecord<Facts>) {
    this.magic = Magic.read(record.words);
  }

  get id(): string {
    return this.record.id;
  }

  get facts(): Facts {
    return this.record.facts;
  }

  /** Duration of the work in milliseconds. */
  get workMs(): number {
    return this.magic.number('task-ms', MAX_WORK_MS) ?? DEFAULT_WORK_MS;
  }

  stateAt(nowMs: number): JobState {
    const elapsedMs = nowMs - this.record.createdMs;
    if (elapsedMs < this.workMs) return this.workingState(elapsedMs);
    const phase = this.hasFailed(elapsedMs) ? 'failed' : 'done';
    return { phase, word: undefined, progress: 100 };
  }

  private workingState(elapsedMs: number): JobState {
    return {
      phase: elapsedMs < this.workMs * QUEUED_SHARE ? 'queued' : 'working',
      word: this.magic.text('task-state'),
      progress:
        this.magic.number('task-progress', 999) ?? Math.floor((100 * elapsedMs) / this.workMs),
    };
  }

  private hasFailed(elapsedMs: number): boolean {
    if (!this.magic.has('task-fails')) return false;
    const regretMs = this.magic.number('late-success', MAX_WORK_MS);
    return regretMs === undefined || elapsedMs < this.workMs + regretMs;
  }
}

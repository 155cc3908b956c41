import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';
import { SystemClock } from '../../common/time/clock.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { spoil } from '../http/faults.js';
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

/** This many jobs are remembered; the oldest are dropped first. */
const MAX_JOBS = 50_000;
const MAX_COUNT = 1_000_000;

/** A job as tests see it. */
export interface JobView extends JobState {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  /** How often work of this kind and label was accepted. More than 1 means that it was paid for twice. */
  readonly submissions: number;
  readonly createdMs: number;
  /** How often the state was asked for, and how often the result was fetched. */
  readonly polls: number;
  readonly downloads: number;
  /** The job was deleted. Polls do not find it any more; tests still see it. */
  readonly isRemoved: boolean;
}

interface Entry {
  readonly job: Job;
  polls: number;
  downloads: number;
  isRemoved: boolean;
}

/**
 * The asynchronous work of every protocol. A handler that has checked a submission calls {@link accept} and answers
 * with the id. At a poll it calls {@link find}, then {@link spoilPoll}, then {@link stateOf}. Before it sends the
 * finished file it calls {@link spoilDownload}. The magic inputs of the submission decide times and faults.
 */
export class JobBoard {
  private readonly clock = new SystemClock();
  private readonly entries = new LRUCache<string, Entry>(entriesLimit(MAX_JOBS));

  /** Accepts work. Two submissions of the same work have the same `label`; `facts` are plain JSON. */
  accept<Facts>(
    exchange: Pick<SandboxExchange, 'requestId' | 'magic'>,
    work: Pick<JobRecord<Facts>, 'kind' | 'label' | 'facts'>,
  ): Job<Facts> {
    const { kind, label, facts } = work;
    const job = new Job({
      id: exchange.requestId,
      kind,
      label,
      facts,
      createdMs: this.clock.nowMs(),
      words: exchange.magic.toString(),
    });
    this.entries.set(job.id, { job, polls: 0, downloads: 0, isRemoved: false });
    return job;
  }

  /** The job of this kind and id. */
  find<Facts>(kind: string, id: string): Job<Facts> | undefined {
    const entry = this.entries.get(id);
    const isFound = entry?.job.record.kind === kind && !entry.isRemoved;
    return isFound ? (entry.job as Job<Facts>) : undefined;
  }

  /** The present state of the job. */
  stateOf(job: Job): JobState {
    return job.stateAt(this.clock.nowMs());
  }

  /** Counts a poll and applies `poll=`. Returns true when that was the answer. */
  spoilPoll(exchange: SandboxExchange, job: Job): Promise<boolean> {
    const entry = this.entries.get(job.id);
    if (entry) entry.polls += 1;
    const isOver = (entry?.polls ?? 0) > (job.magic.number('polls', MAX_COUNT) ?? MAX_COUNT);
    return spoil(exchange, isOver ? undefined : job.magic.text('poll'));
  }

  /** Counts a download of the result and applies `file=`. Returns true when that was the answer. */
  spoilDownload(exchange: SandboxExchange, { id }: Job): Promise<boolean> {
    return spoil(exchange, this.downloadFault(id), true);
  }

  /** Counts a download of the result of the job with this id; what `file=` says of it. */
  downloadFault(id: string): string | undefined {
    const entry = this.entries.get(id);
    if (!entry) return undefined;
    entry.downloads += 1;
    const { magic } = entry.job;
    const isOver = entry.downloads > (magic.number('files', MAX_COUNT) ?? MAX_COUNT);
    return isOver ? undefined : magic.text('file');
  }

  /** The jobs of this kind, newest first. */
  ofKind<Facts>(kind: string): Job<Facts>[] {
    return [...this.entries.values()]
      .filter(({ job, isRemoved }) => job.record.kind === kind && !isRemoved)
      .map(({ job }) => job as Job<Facts>)
      .sort((a, b) => b.record.createdMs - a.record.createdMs);
  }

  /** Deletes the job, as a provider does on request. */
  remove(job: Job): void {
    const entry = this.entries.get(job.id);
    if (entry) entry.isRemoved = true;
  }

  /** The last jobs accepted, newest first. */
  last(limit: number): JobView[] {
    const submissions = new Map<string, number>();
    const newestFirst = [...this.entries.values()].sort(
      (a, b) => b.job.record.createdMs - a.job.record.createdMs,
    );
    for (const { job } of newestFirst)
      submissions.set(keyOf(job), (submissions.get(keyOf(job)) ?? 0) + 1);
    return newestFirst.slice(0, limit).map(({ job, polls, downloads, isRemoved }) => {
      const { id, kind, label, createdMs } = job.record;
      const count = submissions.get(keyOf(job)) ?? 0;
      const state = this.stateOf(job);
      const counts = { submissions: count, polls, downloads };
      return { id, kind, label, createdMs, ...counts, isRemoved, ...state };
    });
  }
}

const keyOf = ({ record }: Job): string => `${record.kind} ${record.label}`;

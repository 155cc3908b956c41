import { LRUCache } from 'lru-cache';
import { SystemClock } from '../../common/time/clock.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { spoil } from '../http/faults.js';
import { Job, type JobRecord, type JobState } from './job.js';

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
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_JOBS });

  /** Accepts work. Two submissions of the same work have the same `label`; `facts` are plain JSON. */
  accept<Facts>(
    exchange: Pick<SandboxExchange, 'requestId' | 'magic'>,
    work: Pick<JobRecord<Facts>, 'kind' | 'label' | 'facts'>,
  ): Promise<Job<Facts>> {
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
    return Promise.resolve(job);
  }

  /** The job of this kind and id. */
  find<Facts>(kind: string, id: string): Promise<Job<Facts> | undefined> {
    const entry = this.entries.get(id);
    const isFound = entry?.job.record.kind === kind && !entry.isRemoved;
    return Promise.resolve(isFound ? (entry.job as Job<Facts>) : undefined);
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
  spoilDownload(exchange: SandboxExchange, job: Job): Promise<boolean> {
    const entry = this.entries.get(job.id);
    if (entry) entry.downloads += 1;
    const isOver = (entry?.downloads ?? 0) > (job.magic.number('files', MAX_COUNT) ?? MAX_COUNT);
    return spoil(exchange, isOver ? undefined : job.magic.text('file'));
  }

  /** Deletes the job, as a provider does on request. */
  remove(job: Job): void {
    const entry = this.entries.get(job.id);
    if (entry) entry.isRemoved = true;
  }

  /** The last jobs accepted, newest first. */
  last(limit: number): JobView[] {
    const submissions = new Map<string, number>();
    const keysetPage = [...this.entries.values()].sort(
      (a, b) => b.job.record.createdMs - a.job.record.createdMs,
    );
    for (const { job } of keysetPage)
      submissions.set(keyOf(job), (submissions.get(keyOf(job)) ?? 0) + 1);
    return keysetPage.slice(0, limit).map(({ job, polls, downloads, isRemoved }) => {
      const { id, kind, label, createdMs } = job.record;
      const count = submissions.get(keyOf(job)) ?? 0;
      const state = this.stateOf(job);
      const counts = { submissions: count, polls, downloads };
      return { id, kind, label, createdMs, ...counts, isRemoved, ...state };
    });
  }
}

const keyOf = ({ record }: Job): string => `${record.kind} ${record.label}`;

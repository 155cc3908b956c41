import { Injectable } from '@nestjs/common';
import { StepReporter } from './step-reporter.js';
import type { PollReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { type ClaimedWork, TaskWorkRepository } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';
import { isUnknownJob } from '../task-fault.js';
import { DAY_MS } from '../../common/time/spans.js';

/** How long the job of an ended task is polled for a late result. */
const WATCH_MS = 7 * DAY_MS;

/**
 * Polls the job of a task that failed, expired or has an unknown outcome. Operators see the provider's report; only they can
 * then change the task (`TaskCollection`, `TaskResolution`).
 */
@Injectable()
export class LateResultStep {
  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly statements: TaskWorkRepository,
  ) {}

  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const { task } = work;
    const tookMs = (task.completedAt ?? task.createdAt).getTime() - task.createdAt.getTime();
    // Both by the database's clock: the clock of this process may be wrong.
    if (work.ageMs - tookMs >= WATCH_MS) return this.statements.unwatch(work);
    const state = await this.stateOf(work, signal);
    const isSaid = state === 'succeeded' || state === 'failed';
    if (task.status !== 'reconciliation_required') {
      if (state === 'succeeded') await this.reporter.recordLateResult(work);
      if (isSaid || state === 'forgotten') return this.statements.unwatch(work);
    }
    await this.reporter.scheduleNext(work, {
      phase: 'watching',
      // After a final report the job is not polled again; the task waits for an operator.
      delayMs: isSaid ? WATCH_MS : this.reporter.longestMs,
      ...(state && state !== 'forgotten' && { facts: { evidence: state } }),
    });
  }

  /** `forgotten` if the provider does not know the job; undefined if it does not respond or is no longer configured. */
  private async stateOf(
    { task }: ClaimedWork,
    signal: AbortSignal,
  ): Promise<PollReport['state'] | 'forgotten' | undefined> {
    if (!this.upstreams.isReachable(task)) return undefined;
    try {
      const context = this.upstreams.contextOf(task, signal);
      return (await this.kinds.of(task.kind).poll(task, context)).state;
    } catch (error) {
      return isUnknownJob(error) ? 'forgotten' : undefined;
    }
  }
}

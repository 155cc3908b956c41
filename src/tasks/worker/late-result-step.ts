import { Injectable } from '@nestjs/common';
import { StepReporter } from './step-reporter.js';
import type { PollReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { type ClaimedWork, TaskWorkRepository } from './task-work.repository.js';
import { TaskUpstreams } from './task-upstreams.js';
import { isUnknownJob } from '../task-fault.js';
import { UnknownOutcome, WATCH_MS } from './unknown-outcome.js';

/**
 * Asks the provider of a task that ended without success, for seven days. An unknown outcome is decided by the answer
 * ({@link UnknownOutcome}). Of a task that failed or expired, operators see it; only they can then change the task (`TaskCollection`).
 */
@Injectable()
export class LateResultStep {
  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly statements: TaskWorkRepository,
    private readonly outcomes: UnknownOutcome,
  ) {}

  async run(work: ClaimedWork, signal: AbortSignal): Promise<void> {
    const { task } = work;
    const tookMs = (task.completedAt ?? task.createdAt).getTime() - task.createdAt.getTime();
    // Both by the database's clock: the clock of this process may be wrong.
    const waitedMs = work.ageMs - tookMs;
    if (waitedMs >= WATCH_MS) return this.statements.unwatch(work);
    if (task.status === 'reconciliation_required') {
      return this.outcomes.ask(work, waitedMs, signal);
    }
    const state = await this.stateOf(work, signal);
    if (state === 'succeeded') await this.reporter.recordLateResult(work);
    if (state === 'succeeded' || state === 'failed' || state === 'forgotten') {
      return this.statements.unwatch(work);
    }
    await this.reporter.scheduleNext(work, {
      phase: 'watching',
      delayMs: this.reporter.longestMs,
      ...(state && { facts: { evidence: state } }),
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

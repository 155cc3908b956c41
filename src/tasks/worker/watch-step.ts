import { Injectable } from '@nestjs/common';
import type { StopSignal } from '../../common/stop-signal.js';
import { Clock } from '../../common/time/clock.js';
import { StepReporter } from './step-reporter.js';
import type { PollReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { type ClaimedWork, TaskStatements } from './task-statements.js';
import { TaskUpstreams } from './task-upstreams.js';

/** How long a provider is asked about the job of a task that has already ended. */
const WATCH_MS = 7 * 86_400_000;

/**
 * Asks on about the job of a task that expired or whose outcome is unknown. What the provider says is shown to operators;
 * status, money and webhook change only by their resolving.
 */
@Injectable()
export class WatchStep {
  constructor(
    private readonly reporter: StepReporter,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly statements: TaskStatements,
    private readonly clock: Clock,
  ) {}

  async run(work: ClaimedWork, signal: StopSignal): Promise<void> {
    const { task } = work;
    const endedMs = this.clock.nowMs() - (task.completedAt ?? task.createdAt).getTime();
    if (endedMs >= WATCH_MS) return this.statements.unwatch(work);
    const state = await this.stateOf(work, signal);
    if (task.status === 'expired' && state === 'succeeded') this.reporter.lateSuccess(work);
    const isSaid = state === 'succeeded' || state === 'failed';
    if (isSaid && task.status !== 'reconciliation_required') return this.statements.unwatch(work);
    await this.reporter.goOn(work, {
      phase: 'watching',
      // What a provider has said for good it need not be asked again, but the task stays until an operator decides.
      delayMs: isSaid ? WATCH_MS : this.reporter.longestMs,
      ...(state && { facts: { evidence: state } }),
    });
  }

  /** Undefined where the provider does not answer or can no longer be asked. */
  private async stateOf(
    { task }: ClaimedWork,
    signal: StopSignal,
  ): Promise<PollReport['state'] | undefined> {
    if (!this.upstreams.isReachable(task)) return undefined;
    try {
      const context = this.upstreams.contextOf(task, signal);
      return (await this.kinds.of(task.kind).poll(task, context)).state;
    } catch {
      return undefined;
    }
  }
}

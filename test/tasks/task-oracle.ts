import type { TaskStatus } from '../../src/tasks/task.js';
import type { PollPlan, SubmitPlan } from '../support/job-provider.js';

/** What may happen, in any order. */
export type Happening =
  | { readonly do: 'submit'; readonly plan: SubmitPlan }
  | { readonly do: 'provider'; readonly state: PollPlan }
  | { readonly do: 'step' }
  /** A worker claims and marks everything that is due, and dies. */
  | { readonly do: 'crash' }
  /** A worker claims everything that is due and is paused; another one takes over; the first comes back with successes. */
  | { readonly do: 'pause' }
  /** A worker takes the step of one task, and dies right before or right after its end is committed. */
  | { readonly do: 'die'; readonly task: number; readonly moment: 'before' | 'after' }
  | { readonly do: 'deadline'; readonly task: number }
  | { readonly do: 'cancel'; readonly task: number }
  | { readonly do: 'resolve'; readonly task: number; readonly outcome: 'succeeded' | 'failed' };

/** A happening to one task that no worker brings about. */
export type Decision = Extract<Happening, { readonly do: 'deadline' | 'cancel' | 'resolve' }>;

/** A task as the table of architecture says it must be. */
export interface Expected {
  readonly plan: SubmitPlan;
  status: TaskStatus;
  hasJob: boolean;
  isMarked: boolean;
  isLost: boolean;
  isOverdue: boolean;
  strikes: number;
  /** How often its unknown outcome was decided by what the provider says. */
  decisions: number;
  /** Final states it has entered; each is told to its webhook. */
  ends: TaskStatus[];
}

const MAX_FAILURES = 5;
const MAX_DECISIONS = 5;

/** The rules of the task states, written down a second time and without a database. */
export class TaskOracle {
  readonly tasks: Expected[] = [];
  private provider: PollPlan = { status: 'running' };

  apply(happening: Happening): void {
    if ('task' in happening) {
      if (happening.do === 'die') this.die(happening);
      else this.decide(happening);
      return;
    }
    switch (happening.do) {
      case 'submit':
        this.tasks.push({
          plan: happening.plan,
          status: 'queued',
          hasJob: false,
          isMarked: false,
          isLost: false,
          isOverdue: false,
          strikes: 0,
          decisions: 0,
          ends: [],
        });
        return;
      case 'provider':
        this.provider = happening.state;
        return;
      case 'crash':
        for (const task of this.tasks) if (task.status === 'queued') this.lose(task);
        return;
      case 'step':
      case 'pause':
        for (const task of this.tasks) this.step(task);
        return;
    }
  }

  private die({ task: index, moment }: Extract<Happening, { readonly do: 'die' }>): void {
    const task = this.tasks[index];
    if (!task) return;
    const before = { ...task, ends: [...task.ends] };
    this.step(task);
    if (moment === 'after' || task.ends.length === before.ends.length) return;
    // The end is lost. A request that was sent is not sent again.
    const isSent = before.status === 'queued' && !before.isLost && !before.isOverdue;
    Object.assign(task, before);
    if (before.status === 'reconciliation_required') task.decisions += 1;
    if (!isSent) return;
    this.lose(task);
    // The provider did the work at once, which was written before the end.
    if (task.plan === 'done') task.status = 'processing';
  }

  private decide(happening: Decision): void {
    const task = this.tasks[happening.task];
    if (!task) return;
    if (happening.do === 'deadline') task.isOverdue = true;
    else if (happening.do === 'resolve') {
      if (task.status === 'reconciliation_required') end(task, happening.outcome);
    } else if (task.status === 'queued' && !task.isMarked) end(task, 'failed');
  }

  private lose(task: Expected): void {
    task.isMarked = true;
    task.isLost = true;
  }

  private step(task: Expected): void {
    if (task.status === 'reconciliation_required') this.askAgain(task);
    if (task.status !== 'queued' && task.status !== 'processing') return;
    if (task.isLost) end(task, 'reconciliation_required');
    else if (task.status === 'queued') this.submit(task);
    else this.poll(task);
  }

  private askAgain(task: Expected): void {
    const { status, result, broken } = this.provider;
    const isOver = status === 'failed' || (status === 'done' && result !== undefined);
    if (!task.hasJob || broken || !isOver || task.decisions === MAX_DECISIONS) return;
    end(task, status === 'failed' ? 'failed' : 'succeeded');
  }

  private submit(task: Expected): void {
    if (task.isOverdue) {
      end(task, 'expired');
      return;
    }
    task.isMarked = true;
    if (task.plan === 'accept') {
      task.status = 'processing';
      task.hasJob = true;
    } else if (task.plan === 'done') end(task, 'succeeded');
    else if (task.plan === 'refuse') end(task, 'failed');
    else if (task.plan !== 'busy') end(task, 'reconciliation_required');
  }

  private poll(task: Expected): void {
    const { status, result, broken } = this.provider;
    const isUnreadable = status === 'done' && result === undefined;
    if (broken) {
      this.later(task, 'reconciliation_required');
      return;
    }
    if (status === 'failed') {
      end(task, 'failed');
      return;
    }
    if (status === 'done' && !isUnreadable) {
      end(task, 'succeeded');
      return;
    }
    if (!isUnreadable) {
      this.later(task, 'expired');
      return;
    }
    task.strikes += 1;
    if (task.isOverdue || task.strikes === MAX_FAILURES) end(task, 'reconciliation_required');
  }

  private later(task: Expected, atDeadline: TaskStatus): void {
    task.strikes = 0;
    if (task.isOverdue) end(task, atDeadline);
  }
}

function end(task: Expected, status: TaskStatus): void {
  task.status = status;
  task.ends.push(status);
}

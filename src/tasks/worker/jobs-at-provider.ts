import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { toPublicId } from '../../common/ids/public-id.js';
import { Clock } from '../../common/time/clock.js';
import { FairTurns } from '../../platform/fairness/fair-turns.js';
import { Quota } from '../../platform/fairness/quota.js';
import type { Task } from '../task.js';
import type { TaskKind } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { TaskUpstreams } from './task-upstreams.js';

/** Longest time for all requests of one cancellation or deletion. */
const LIMIT_MS = 10_000;
/** Cancellations and deletions at once; those of several providers take turns. */
const MAX_AT_ONCE = 32;
/** Those that run or wait, in all and of a provider. What comes beyond is not asked. */
const MAX_PENDING = { total: 1_000, perBucket: 500 };
/** Failures of one provider are logged as warnings so often; the others at level debug. */
const WARN_EVERY_MS = 60_000;
const DRAIN_MS = 400;
/** How long what was aborted may take to end. */
const ABORT_GRACE_MS = 200;

type Asked = 'cancelAtProvider' | 'deleteAtProvider';

/**
 * What providers are asked to do with the jobs of tasks that have ended: at most once, after the end is committed, and only where
 * the upstream that has the job is still configured. Nothing here throws or is waited for, and no answer changes a task or its
 * money. What is not answered when the process ends is given up.
 */
@Injectable()
export class JobsAtProvider implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Tasks');
  private readonly turns = new FairTurns(MAX_AT_ONCE);
  private readonly places = new Quota(MAX_PENDING);
  private readonly pending = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly warnedAtMs = new Map<string, number>();

  constructor(
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly clock: Clock,
  ) {}

  /** Stops the job of a task that was given up. */
  cancel(task: Task): void {
    this.begin('cancelAtProvider', task);
  }

  /** Deletes the job of a task whose file is stored. */
  delete(task: Task): void {
    this.begin('deleteAtProvider', task);
  }

  /** Waits a moment for what is asked, and gives up the rest. */
  async drain(waitMs = DRAIN_MS): Promise<void> {
    const done = Promise.all(this.pending);
    await Promise.race([done, sleep(waitMs, undefined, { ref: false })]);
    this.stopping.abort(new Error('the gateway is shutting down'));
    await Promise.race([done, sleep(ABORT_GRACE_MS, undefined, { ref: false })]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.stopping.signal.aborted) await this.drain(0);
  }

  private begin(asked: Asked, task: Task): void {
    const kind: TaskKind = this.kinds.of(task.kind);
    const ask = kind[asked]?.bind(kind);
    if (!ask || task.providerJobId === null || !this.upstreams.isReachable(task)) return;
    if (!this.places.tryAcquire(task.provider, 1)) {
      this.failed(asked, task, new Error('too many others wait'));
      return;
    }
    const work = this.turns
      .run(task.provider, async () => {
        const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(LIMIT_MS)]);
        signal.throwIfAborted();
        await ask(task, { ...this.upstreams.contextOf(task, signal), isUnguarded: true });
      })
      .catch((error: unknown) => {
        this.failed(asked, task, error);
      })
      .finally(() => {
        this.places.release(task.provider, 1);
        this.pending.delete(work);
      });
    this.pending.add(work);
  }

  private failed(asked: Asked, task: Task, error: unknown): void {
    const verb = asked === 'cancelAtProvider' ? 'cancel' : 'delete';
    const line = `${toPublicId('task', task.id)}: cannot ${verb} its job at the provider: ${String(error)}`;
    const nowMs = this.clock.nowMs();
    if (nowMs - (this.warnedAtMs.get(task.provider) ?? -Infinity) < WARN_EVERY_MS) {
      this.logger.debug(line);
      return;
    }
    this.warnedAtMs.set(task.provider, nowMs);
    this.logger.warn(line);
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import { TaskMetrics } from '../task-metrics.js';

/** Most states remembered as logged. Above it, states are logged again. */
const MAX_WORDS = 1_000;

/**
 * Counts and logs job states that the adapter does not know. The task is polled on and expires at the deadline. Each process
 * logs a state of a route once and counts every response with an unknown state.
 */
@Injectable()
export class UnknownStates {
  private readonly logger = new Logger('Tasks');
  private readonly logged = new Set<string>();

  constructor(
    private readonly kinds: TaskKinds,
    private readonly metrics: TaskMetrics,
  ) {}

  /** Counts the state, and logs it if it is new. */
  seen({ id, kind, provider }: Task, word: string): void {
    const { operation } = this.kinds.of(kind);
    this.metrics.unknownStates.inc({ provider, operation });
    const name = `${provider}/${operation}/${word}`;
    if (this.logged.has(name)) return;
    if (this.logged.size >= MAX_WORDS) this.logged.clear();
    this.logged.add(name);
    this.logger.warn(
      `${toPublicId('task', id)}: provider ${provider} reports the unknown job state ${JSON.stringify(word)}; the job is polled until the deadline`,
    );
  }
}

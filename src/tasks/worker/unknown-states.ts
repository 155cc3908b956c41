import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import { TaskMetrics } from '../task-metrics.js';

/** At most this many words are remembered as logged; a provider that makes up more is logged again. */
const MAX_WORDS = 1_000;

/**
 * Words for the state of a job that its adapter does not know. The task goes on, and at the deadline it expires. Each word of a
 * route is logged once by each process, and every answer that has one is counted.
 */
@Injectable()
export class UnknownStates {
  private readonly logger = new Logger('Tasks');
  private readonly logged = new Set<string>();

  constructor(
    private readonly kinds: TaskKinds,
    private readonly metrics: TaskMetrics,
  ) {}

  /** Counts the word, and logs it if it is new. */
  seen({ id, kind, provider }: Task, word: string): void {
    const { operation } = this.kinds.of(kind);
    this.metrics.unknownStates.inc({ provider, operation });
    const name = `${provider}/${operation}/${word}`;
    if (this.logged.has(name)) return;
    if (this.logged.size >= MAX_WORDS) this.logged.clear();
    this.logged.add(name);
    this.logger.warn(
      `${toPublicId('task', id)}: provider ${provider} says ${JSON.stringify(word)} of its job, which no state is known by; it is asked again until the deadline`,
    );
  }
}

import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Task, TaskStatus } from './task.js';
import type { TaskKind } from './task-kind.js';
import { FINAL_STATUSES } from './task-state-machine.js';

/** The registry of task kinds. */
@Injectable()
export class TaskKinds {
  private readonly kinds = new Map<string, TaskKind>();

  /** Registers a kind; features call it in `onModuleInit`. */
  register(kind: TaskKind): void {
    assert(!this.kinds.has(kind.name), `task kind ${kind.name} is registered twice`);
    this.kinds.set(kind.name, kind);
  }

  /** The kind with this name. It is always registered, because every process has all features. */
  of(name: string): TaskKind {
    const kind = this.kinds.get(name);
    assert(kind, `task kind ${name} is not registered`);
    return kind;
  }

  /** The view of the task in GET and in its webhook. */
  viewOf(task: Task): object {
    return this.of(task.kind).view(task);
  }

  /** The final statuses of a task that are reported to the customer. */
  terminalStatusesFor(task: Task): readonly TaskStatus[] {
    const kind = this.of(task.kind);
    return FINAL_STATUSES.filter((status) => kind.notifiesOn?.(status) ?? true);
  }

  /** The body of the webhook for the task's completion, by default its view; null if none is sent. */
  webhookBodyOf(task: Task, told?: object): Buffer | null {
    const isReported =
      task.webhook !== null && this.terminalStatusesFor(task).includes(task.status);
    return isReported ? Buffer.from(JSON.stringify(told ?? this.viewOf(task))) : null;
  }
}

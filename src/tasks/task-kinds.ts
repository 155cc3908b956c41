import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import type { Task, TaskStatus } from './task.js';
import type { TaskKind } from './task-kind.js';
import { FINAL_STATUSES } from './task-state-machine.js';

/** The kinds that features have registered. */
@Injectable()
export class TaskKinds {
  private readonly kinds = new Map<string, TaskKind>();

  /** Registers a kind; features call it in `onModuleInit`. */
  register(kind: TaskKind): void {
    assert(!this.kinds.has(kind.name), `task kind ${kind.name} is registered once`);
    this.kinds.set(kind.name, kind);
  }

  /** The kind of that name. It is always registered, because every process has all features. */
  of(name: string): TaskKind {
    const kind = this.kinds.get(name);
    assert(kind, `task kind ${name} is registered`);
    return kind;
  }

  /** The task as GET and its webhook show it. */
  viewOf(task: Task): object {
    return this.of(task.kind).view(task);
  }

  /** The final states of a task that are an end for its holder. */
  terminalStatusesFor(task: Task): readonly TaskStatus[] {
    const kind = this.of(task.kind);
    return FINAL_STATUSES.filter((status) => kind.notifiesOn?.(status) ?? true);
  }

  /** The body of the webhook for a task's end; null if none is sent. */
  webhookBodyOf(task: Task): Buffer | null {
    const isTold = task.webhook !== null && this.terminalStatusesFor(task).includes(task.status);
    return isTold ? Buffer.from(JSON.stringify(this.viewOf(task))) : null;
  }
}

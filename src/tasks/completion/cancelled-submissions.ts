import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { TaskReversal } from '../../billing/recovery/reversal.js';
import { Reversals } from '../../billing/recovery/reversals.js';
import { TaskRepository } from '../reads/task.repository.js';
import { TASK_CANCELLED } from '../task.js';
import { TaskCompletion } from './task-completion.js';

const MESSAGE = 'The task was cancelled: its submission was answered with an error.';

/**
 * Ends the tasks whose submissions were answered with an error, whatever their providers do: the answer that the caller got
 * decides (docs/adr/0009). They hold nothing and are told as every end is.
 */
@Injectable()
export class CancelledSubmissions implements OnModuleInit {
  constructor(
    private readonly owed: Reversals,
    private readonly reader: TaskRepository,
    private readonly ending: TaskCompletion,
  ) {}

  onModuleInit(): void {
    this.owed.setTaskEnder((owed) => this.end(owed));
  }

  private async end({ taskId, accountId }: TaskReversal): Promise<void> {
    const task = await this.reader.find(taskId, accountId);
    if (!task) return;
    const error = { code: TASK_CANCELLED, message: MESSAGE };
    await this.ending.end(task, { event: 'undone', fence: null, error }, 0);
  }
}

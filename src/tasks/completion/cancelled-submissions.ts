import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { TaskReversal } from '../../billing/recovery/reversal.js';
import { Reversals } from '../../billing/recovery/reversals.js';
import { TaskRepository } from '../reads/task.repository.js';
import { TASK_CANCELLED } from '../task.js';
import { TaskCompletion } from './task-completion.js';

const MESSAGE = 'The task was cancelled: its submission was answered with an error.';

/**
 * Ends tasks whose submission got an error response, whatever their providers do: the response that the caller got decides
 * (docs/architecture/adr/0009). Their holds are released and their webhooks sent, as for every completion.
 */
@Injectable()
export class CancelledSubmissions implements OnModuleInit {
  constructor(
    private readonly reversals: Reversals,
    private readonly repository: TaskRepository,
    private readonly completion: TaskCompletion,
  ) {}

  onModuleInit(): void {
    this.reversals.setTaskEnder((reversal) => this.end(reversal));
  }

  private async end({ taskId, accountId }: TaskReversal): Promise<void> {
    const task = await this.repository.find(taskId, accountId);
    if (!task) return;
    const error = { code: TASK_CANCELLED, message: MESSAGE };
    await this.completion.end(task, { event: 'undone', fence: null, error }, 0);
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { OwedTask } from '../../leases/owed.js';
import { OwedCancellations } from '../../leases/owed-cancellations.js';
import { TaskReader } from '../reads/task-reader.js';
import { TASK_CANCELLED } from '../task.js';
import { TaskEnding } from './task-ending.js';

const MESSAGE = 'The task was cancelled: its submission was answered with an error.';

/**
 * Ends the tasks whose submissions were answered with an error, whatever their providers do: the answer that the caller got
 * decides (docs/adr/0009). They hold nothing and are told as every end is.
 */
@Injectable()
export class OwedTasks implements OnModuleInit {
  constructor(
    private readonly owed: OwedCancellations,
    private readonly reader: TaskReader,
    private readonly ending: TaskEnding,
  ) {}

  onModuleInit(): void {
    this.owed.endTasksBy((owed) => this.end(owed));
  }

  private async end({ taskId, accountId }: OwedTask): Promise<void> {
    const task = await this.reader.find(taskId, accountId);
    if (!task) return;
    const error = { code: TASK_CANCELLED, message: MESSAGE };
    await this.ending.end(task, { event: 'undone', fence: null, error }, 0);
  }
}

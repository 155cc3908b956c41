import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { NamedFile } from '../../platform/storage/stored-file.js';
import { StoredFiles } from '../../platform/storage/stored-files.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { Caller } from '../../auth/caller.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';
import type { ContentLinkView } from '../content-links/content-link.view.js';
import { ContentLinks } from '../content-links/content-links.js';
import { SealedContent } from './sealed-content.js';
import { TasksService } from './tasks.service.js';

/** The file of a task. */
interface TaskContent extends NamedFile {
  readonly task: Task;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Finds the result files of tasks (decisions G-56, G-63). */
@Injectable()
export class TaskContents {
  constructor(
    private readonly reads: TasksService,
    private readonly kinds: TaskKinds,
    private readonly files: StoredFiles,
    private readonly links: ContentLinks,
    private readonly sealed: SealedContent,
  ) {}

  /**
   * The task's file. Throws 404 `task_not_found`, 404 `content_not_available` if this endpoint serves no file of the task, 409
   * `task_not_ready` before success, and 410 `content_expired` after the file has expired.
   */
  async find(caller: Pick<Caller, 'accountId'>, id: string): Promise<TaskContent> {
    const task = await this.reads.get(caller, id);
    const { contentAt } = this.kinds.of(task.kind);
    if (contentAt === 'elsewhere') throw noContent();
    requireSuccess(task);
    if (contentAt === undefined || !task.content) throw noContent();
    const { fileId, filename, expiresAt, isSealed, sizeBytes } = task.content;
    const stored = await this.files.kept(task.accountId, fileId);
    const file = isSealed === true ? this.sealed.opened(stored, sizeBytes, task.id) : stored;
    return { file, filename, task, expiresAt: toEpochSeconds(expiresAt) };
  }

  /** A link to the file of the task, whatever endpoint serves it. Throws as {@link find}. */
  async linkTo(task: Task): Promise<ContentLinkView> {
    requireSuccess(task);
    if (!task.content) throw noContent();
    const { fileId, expiresAt } = task.content;
    await this.files.kept(task.accountId, fileId);
    const { contentAt } = this.kinds.of(task.kind);
    const surface = contentAt === 'elsewhere' ? 'videos' : 'tasks';
    return this.links.temporary(task, { surface, expiresAt: toEpochSeconds(expiresAt) });
  }
}

function requireSuccess({ status }: Task): void {
  if (status === 'succeeded') return;
  throw new GatewayError('task_not_ready', 'The task has not succeeded.', { param: 'id' });
}

function noContent(): GatewayError {
  return new GatewayError('content_not_available', 'The task has no file to download here.', {
    param: 'id',
  });
}

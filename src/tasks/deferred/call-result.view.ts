import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import type { JsonObject } from '../../common/json-object.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { ContentLinks } from '../content-links/content-links.js';
import type { Task } from '../task.js';
import { type TaskView, viewTask } from '../task.view.js';

/** The answer of a call that became a task. */
export class CallResultView {
  @ApiProperty({
    example: '/v1/tasks/task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a/content',
    description: 'Path of the answer on this gateway; it takes the key',
  })
  content_path!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Where to fetch it, without a key, for 24 hours',
  })
  content_url!: string | null;

  @ApiProperty({ example: 'audio/mpeg', description: 'Its type, as in the answer of the call' })
  content_type!: string;
}

/** The result as it is kept. The link is made for each reader, because its key may be rotated. */
export function keptCallResult(taskId: string, contentType: string): JsonObject {
  const path = `/v1/tasks/${toPublicId('task', taskId)}/content`;
  return { content_path: path, content_type: contentType };
}

/** The task object of a call. */
export function viewCall(
  task: Task,
  modality: 'audio' | 'image',
  links: ContentLinks,
): TaskView | object {
  const view = viewTask(task, modality);
  if (task.result === null) return view;
  const { content_path, ...rest } = task.result;
  return { ...view, result: { content_path, content_url: urlOf(task, links), ...rest } };
}

function urlOf(task: Task, links: ContentLinks): string | null {
  if (task.content === null) return null;
  const { gatewayUrl } = task.details as { readonly gatewayUrl?: string };
  const expiresAt = toEpochSeconds(task.content.expiresAt);
  return links.urlOf(task, { surface: 'tasks', expiresAt, gatewayUrl });
}

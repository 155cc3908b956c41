import { ApiProperty } from '@nestjs/swagger';
import { isDeepStrictEqual } from 'node:util';
import { toPublicId } from '../common/ids/public-id.js';
import type { JsonObject } from '../common/json-object.js';
import { toEpochSeconds } from '../common/time/clock.js';
import { numberAt, textAt } from '../providers/http/json-fields.js';
import type { DubbingReport } from '../providers/ports/job.port.js';
import type { ContentLinks } from '../tasks/content-links/content-links.js';
import type { Task } from '../tasks/task.js';
import { TaskFields, viewTask } from '../tasks/task.view.js';
import { dubbingDetailsOf } from './dubbing-task.js';

/** Names of media types have no case. */
const VIDEO = /^video\//i;

/** The result as it is kept. The link is made for each reader, because its key may be rotated. */
type KeptDubbingResult = Omit<DubbingResultView, 'content_url'>;

type FinishedDub = Extract<DubbingReport, { state: 'succeeded' }>;

/** A finished dub (API: Dubbing result). */
export class DubbingResultView {
  @ApiProperty({ type: [String], description: 'Always empty for dubbing' })
  urls!: string[];

  @ApiProperty({
    example: '/v1/tasks/task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a/content',
    description: 'Path of the file on this gateway; it takes the key',
  })
  content_path!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    description:
      'Where to fetch it, without a key, as long as it is kept; null where no file was stored',
  })
  content_url!: string | null;

  @ApiProperty({ example: 'fr', description: 'Language of the dub' })
  target_language!: string;

  @ApiProperty({ nullable: true, type: String, description: 'As used or detected', example: 'en' })
  source_language!: string | null;

  @ApiProperty({ nullable: true, type: String, description: 'A hint', example: 'audio/mpeg' })
  content_type!: string | null;

  @ApiProperty({
    nullable: true,
    type: Boolean,
    description: 'Whether the file has a picture; null where it is not known',
  })
  has_video!: boolean | null;

  @ApiProperty({
    nullable: true,
    type: Number,
    description: 'Length of the file in seconds; null where it is not known',
  })
  duration_seconds!: number | null;
}

/** A dubbing task. */
export class DubbingTaskView extends TaskFields {
  @ApiProperty({
    nullable: true,
    type: DubbingResultView,
    description: 'The dub; null until success',
  })
  result!: DubbingResultView | null;
}

/** The task object of a dub. */
export function viewDub(task: Task, links: ContentLinks): object {
  const view = viewTask(task);
  if (task.result === null) return view;
  const { urls, content_path, ...rest } = task.result;
  return { ...view, result: { urls, content_path, content_url: urlOf(task, links), ...rest } };
}

function urlOf(task: Task, links: ContentLinks): string | null {
  if (task.content === null) return null;
  const { gatewayUrl } = dubbingDetailsOf(task);
  const expiresAt = toEpochSeconds(task.content.expiresAt);
  return links.urlOf(task, { surface: 'tasks', expiresAt, gatewayUrl });
}

/** What the provider reports about a finished dub, as clients see it. It never changes later. */
export function viewDubbingResult(
  taskId: string,
  targetLanguage: string,
  { sourceLanguage, contentType, durationSeconds }: FinishedDub,
): KeptDubbingResult {
  return {
    urls: [],
    content_path: `/v1/tasks/${toPublicId('task', taskId)}/content`,
    target_language: targetLanguage,
    source_language: sourceLanguage,
    content_type: contentType,
    has_video: contentType === null ? null : VIDEO.test(contentType),
    duration_seconds: durationSeconds,
  };
}

/**
 * The result of a dub that was not fetched, with what an operator knows of it; null if the operator gave nothing.
 * Undefined if the given values do not fit this task.
 */
export function resolvedDubbingResult(
  taskId: string,
  targetLanguage: string,
  given: JsonObject,
): KeptDubbingResult | undefined {
  const result = viewDubbingResult(taskId, targetLanguage, {
    state: 'succeeded',
    sourceLanguage: textAt(given, 'source_language'),
    contentType: textAt(given, 'content_type'),
    durationSeconds: numberAt(given, 'duration_seconds'),
  });
  const isOne = Object.entries(given).every(
    ([key, value]) =>
      Object.hasOwn(result, key) && isDeepStrictEqual(value, result[key as keyof typeof result]),
  );
  return isOne ? result : undefined;
}

import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../common/ids/public-id.js';
import type { Task } from '../tasks/task.js';
import { TaskView, viewTask } from '../tasks/task.view.js';
import { detailsOf, type DubbingResult, resultOf } from './dubbing-task.js';

/** A finished dub (spec: Dubbing result). */
export class DubbingResultView {
  @ApiProperty({ type: [String], description: 'Always empty for dubbing' })
  urls!: string[];

  @ApiProperty({ example: '/v1/tasks/task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a/content' })
  content_path!: string;

  @ApiProperty({ example: 'fr' })
  target_language!: string;

  @ApiProperty({ nullable: true, type: String, description: 'As used or detected', example: 'en' })
  source_language!: string | null;

  @ApiProperty({ nullable: true, type: String, description: 'A hint', example: 'audio/mpeg' })
  content_type!: string | null;

  @ApiProperty({ nullable: true, type: Boolean })
  has_video!: boolean | null;

  @ApiProperty({ nullable: true, type: Number })
  duration_seconds!: number | null;
}

/** A dubbing task. */
export class DubbingTaskView extends TaskView {
  @ApiProperty({ nullable: true, type: DubbingResultView })
  declare result: DubbingResultView | null;
}

/** The task object of a dub; the core keeps the result in our own words. */
export function viewDubbing(task: Task): DubbingTaskView {
  const result = resultOf(task);
  return { ...viewTask(task), result: result && viewResult(task, result) };
}

function viewResult(task: Task, result: DubbingResult): DubbingResultView {
  const { contentType } = result;
  return {
    urls: [],
    content_path: `/v1/tasks/${toPublicId('task', task.id)}/content`,
    target_language: detailsOf(task).targetLanguage,
    source_language: result.sourceLanguage,
    content_type: contentType,
    has_video: contentType === null ? null : contentType.startsWith('video/'),
    duration_seconds: result.durationSeconds,
  };
}

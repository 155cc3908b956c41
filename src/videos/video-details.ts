import type { Task, TaskStatus } from '../tasks/task.js';

/** How long a finished video is kept (spec: Limits). */
export const RETENTION_SECONDS = 1_209_600;

/** Facts of a video that its views show for as long as the task is kept. */
export type VideoDetails = Readonly<{
  seconds: string;
  size: string | null;
  /** Where the caller reached this gateway; kept, so that the webhook and every read name the same URL of the file. */
  gatewayUrl: string;
}>;

/** The details as `VideosService` wrote them. */
export function videoDetailsOf(task: Task): VideoDetails {
  return task.details as VideoDetails;
}

/** Where a video stands, in the words of its own surface. */
export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** The task machine in those words: no state of theirs stands for an unknown outcome, so it stays in progress (decision G-58). */
export const VIDEO_STATUS: Readonly<Record<TaskStatus, VideoStatus>> = {
  queued: 'queued',
  processing: 'in_progress',
  reconciliation_required: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'failed',
};

/** Why a video failed; null unless it did. An expired one says so by its code (decision G-58). */
export function videoErrorOf({ status, error }: Task): { code: string; message: string } | null {
  if (status === 'expired') {
    return { code: 'expired', message: 'The video was not finished in time.' };
  }
  return status === 'failed' && error ? { code: error.code, message: error.message } : null;
}

import type { Task, TaskStatus } from '../tasks/task.js';

/** How long a finished video is kept (API: GET /v1/videos/{id}/content). */
export const RETENTION_SECONDS = 1_209_600;

/** Facts for the views of a video, kept as long as the task. */
export type VideoDetails = Readonly<{
  seconds: string;
  size: string | null;
  /** Absent where the model does not let a caller choose. */
  resolution?: string | undefined;
  sound?: boolean | undefined;
  /**
   * The address at which the caller reached this gateway. It is kept, so that the webhook and every read name the same
   * URL of the file.
   */
  gatewayUrl: string;
}>;

/** The details as `VideosService` wrote them. */
export function videoDetailsOf(task: Task): VideoDetails {
  return task.details as VideoDetails;
}

/** States of a video on its own surface. */
export const VIDEO_STATUSES = ['queued', 'in_progress', 'completed', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/**
 * The state of the task in those words. None of them means an unknown outcome, so such a video stays in progress
 * (decision G-58).
 */
export const VIDEO_STATUS: Readonly<Record<TaskStatus, VideoStatus>> = {
  queued: 'queued',
  processing: 'in_progress',
  reconciliation_required: 'in_progress',
  succeeded: 'completed',
  failed: 'failed',
  expired: 'failed',
};

/** Why a video failed; null unless it did. The code tells whether it expired (decision G-58). */
export function videoErrorOf({ status, error }: Task): { code: string; message: string } | null {
  if (status === 'expired') {
    return { code: 'expired', message: 'The video was not finished in time.' };
  }
  return status === 'failed' && error ? { code: error.code, message: error.message } : null;
}

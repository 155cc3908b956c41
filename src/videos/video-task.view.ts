import { toPublicId } from '../common/ids/public-id.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { toEpochSeconds } from '../common/time/clock.js';
import type { Task } from '../tasks/task.js';
import {
  videoDetailsOf,
  RETENTION_SECONDS,
  VIDEO_STATUS,
  videoErrorOf,
  type VideoStatus,
} from './video-details.js';
import { endOf } from './video.view.js';

const MICRO_USD_PER_USD = 1_000_000;

/** What the webhook of a video contains and GET /v1/tasks/{video id} answers (spec: Events; decision G-56). */
export interface VideoTaskView {
  readonly id: string;
  readonly object: 'task';
  readonly status: VideoStatus;
  readonly model: string;
  readonly progress: number | null;
  readonly created: number;
  readonly completed: number | null;
  /** USD. */
  readonly cost: number | null;
  readonly result: { readonly videos: readonly FinishedVideo[] } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface FinishedVideo {
  readonly url: readonly string[];
  readonly expires_at: number;
}

/** The task object of a video, with the states of the video surface. */
export function viewVideoTask(task: Task): VideoTaskView {
  const status = VIDEO_STATUS[task.status];
  const completed = endOf(task);
  return {
    id: toPublicId('task', task.id),
    object: 'task',
    status,
    model: task.model,
    progress: task.progress,
    created: toEpochSeconds(task.createdAt),
    completed,
    cost: completed === null ? null : usdOf(task.chargedMicroUsd ?? 0n),
    result: status === 'completed' && completed !== null ? resultOf(task, completed) : null,
    error: videoErrorOf(task),
  };
}

function resultOf(task: Task, completed: number): { videos: FinishedVideo[] } {
  const { gatewayUrl } = videoDetailsOf(task);
  const url = `${gatewayUrl}/v1/videos/${toPublicId('task', task.id)}/content`;
  const video = { url: [url], expires_at: completed + RETENTION_SECONDS };
  // An operator may have settled a video whose file was never stored.
  return { videos: task.content === null ? [] : [video] };
}

function usdOf(amount: MicroUsd): number {
  return Number(amount) / MICRO_USD_PER_USD;
}

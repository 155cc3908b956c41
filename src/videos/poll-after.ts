import type { Response } from 'express';
import type { VideoView } from './video.view.js';

/** How long SDKs wait between two polls (API: GET /v1/videos/{id}). */
const POLL_AFTER_MS = 10_000;
const POLL_AFTER_HEADER = 'openai-poll-after-ms';

/** Returns the video. While it is not final, sets a header that says when to poll again. */
export function withPollAfter(response: Response, video: VideoView): VideoView {
  const isOpen = video.status === 'queued' || video.status === 'in_progress';
  if (isOpen) response.setHeader(POLL_AFTER_HEADER, String(POLL_AFTER_MS));
  return video;
}

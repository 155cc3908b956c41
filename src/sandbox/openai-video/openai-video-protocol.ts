import type { Exchange } from '../http/exchange.js';
import type { Protocol, Route } from '../http/protocol.js';
import type { JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { openAiErrorBody } from '../openai/openai-error-body.js';
import { VideoJobs } from './video-jobs.js';

/** OpenAI-style videos: bearer key, JSON in, a video object out, the file below `/content`, errors as `{error}`. */
export function openAiVideoProtocol(jobs: JobBoard, shelf: MediaShelf): Protocol {
  const videos = new VideoJobs(jobs, shelf);
  const route = (
    method: Route['method'],
    path: string,
    operation: string,
    handle: (exchange: Exchange) => Promise<void>,
  ): Route => ({ method, path: `/v1/videos${path}`, operation, handle });
  return {
    prefix: '/video',
    routes: [
      route('POST', '', 'video_create', (exchange) => videos.create(exchange)),
      route('GET', '/{video_id}', 'video_retrieve', (exchange) => videos.show(exchange)),
      route('GET', '/{video_id}/content', 'video_content', (exchange) => videos.content(exchange)),
    ],
    keyOf: (exchange) => exchange.header('authorization')?.replace(/^Bearer\s+/i, ''),
    requestIdHeader: 'x-request-id',
    errorBody: openAiErrorBody,
  };
}

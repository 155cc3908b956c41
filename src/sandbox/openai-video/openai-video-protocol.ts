import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { SandboxProtocol, SandboxRoute } from '../http/protocol.js';
import type { JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { openAiErrorBody } from '../openai/openai-error-body.js';
import { VideoJobs } from './video-jobs.js';

/** OpenAI-style videos: bearer key, JSON in, a video object out, the file below `/content`, errors as `{error}`. */
export function openAiVideoProtocol(jobs: JobBoard, shelf: MediaShelf): SandboxProtocol {
  const videos = new VideoJobs(jobs, shelf);
  const route = (
    method: SandboxRoute['method'],
    path: string,
    operation: string,
    handle: (exchange: SandboxExchange) => Promise<void>,
  ): SandboxRoute => ({ method, path: `/v1/videos${path}`, operation, handle });
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

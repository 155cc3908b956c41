import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { SandboxProtocol, SandboxRoute } from '../http/protocol.js';
import type { JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { openAiErrorBody } from '../openai/openai-error-body.js';
import { VideoJobs } from './video-jobs.js';

/**
 * Videos as OpenAI serves them: the key is a bearer token, requests are JSON, answers are a video object, the file is
 * at `/content`, errors are `{error}`.
 */
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

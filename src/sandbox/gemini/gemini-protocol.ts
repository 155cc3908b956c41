import type { ChatLog } from '../chat/chat-log.js';
import { modelList, type SandboxProtocol, WireFault } from '../http/protocol.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { batchEmbedContents } from './embedded-contents.js';
import { geminiErrorBody } from './gemini-errors.js';
import { GeneratedContent } from './generated-content.js';
import type { JobBoard } from '../jobs/job-board.js';
import { PredictedVideos } from './predicted-videos.js';

/** A method of a model: `models/{model}:{method}`. */
type ModelMethod = (exchange: SandboxExchange, model: string) => Promise<void>;

/**
 * Gemini: the key is in `x-goog-api-key`, a path ends with the model and its method, requests are JSON, answers are JSON or
 * server-sent events without names and without a last one, errors are `{error}`.
 */
export function geminiProtocol(chats: ChatLog, jobs: JobBoard): SandboxProtocol {
  const content = new GeneratedContent(chats);
  const videos = new PredictedVideos(jobs);
  const methods: Readonly<Record<string, ModelMethod>> = {
    generateContent: (exchange, model) => content.answer(exchange, model),
    streamGenerateContent: (exchange, model) => content.stream(exchange, model),
    batchEmbedContents,
    predictLongRunning: (exchange, model) => videos.create(exchange, model),
  };
  return {
    prefix: '/gemini',
    routes: [
      modelList('/v1beta/models', { models: [] }),
      {
        method: 'POST',
        path: '/v1beta/models/{call}',
        operation: 'generate_content',
        handle: async (exchange) => {
          const [model = '', name = ''] = (exchange.params.call ?? '').split(':');
          const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
          if (model === '' || method === undefined) {
            throw new WireFault({ status: 404, message: `No such method of a model: ${name}` });
          }
          await method(exchange, model);
        },
      },
      {
        method: 'GET',
        path: '/v1beta/models/{model}/operations/{operation}',
        operation: 'video_retrieve',
        handle: (exchange) => videos.show(exchange),
      },
      {
        method: 'GET',
        path: '/v1beta/files/{file}',
        operation: 'video_content',
        handle: (exchange) => videos.content(exchange),
      },
    ],
    keyOf: (exchange) => exchange.header('x-goog-api-key'),
    requestIdHeader: 'x-request-id',
    errorBody: geminiErrorBody,
  };
}

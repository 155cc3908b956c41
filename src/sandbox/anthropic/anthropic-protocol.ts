import type { ChatLog } from '../chat/chat-log.js';
import { modelList, type SandboxProtocol } from '../http/protocol.js';
import { anthropicErrorBody } from './anthropic-errors.js';
import { Messages } from './messages.js';

/**
 * Anthropic: the key is in `x-api-key`, requests are JSON, answers are JSON or named server-sent events, errors are
 * `{type: "error", error}`.
 */
export function anthropicProtocol(chats: ChatLog): SandboxProtocol {
  const messages = new Messages(chats);
  return {
    prefix: '/anthropic',
    routes: [
      modelList('/v1/models', { data: [], has_more: false }),
      {
        method: 'POST',
        path: '/v1/messages',
        operation: 'messages',
        handle: (exchange) => messages.answer(exchange),
      },
    ],
    keyOf: (exchange) => exchange.header('x-api-key'),
    requestIdHeader: 'request-id',
    errorBody: anthropicErrorBody,
  };
}

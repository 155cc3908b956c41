import type { Protocol, WireError } from '../http/protocol.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { chatCompletions } from './chat-completions.js';
import type { ChatLog } from './chat-log.js';
import { imageGenerations } from './image-generations.js';

/** Type and code words of an error status where the fault itself names none. */
const WORDS: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  403: ['invalid_request_error', 'unsupported_country_region_territory'],
  404: ['invalid_request_error', 'not_found'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
};

/** OpenAI: bearer key, JSON in, JSON or server-sent events out, errors as `{error}`. */
export function openAiProtocol(chats: ChatLog, shelf: MediaShelf): Protocol {
  return {
    prefix: '/openai',
    routes: [
      {
        method: 'POST',
        path: '/v1/chat/completions',
        operation: 'chat_completions',
        handle: (exchange) => chatCompletions(exchange, chats),
      },
      {
        method: 'POST',
        path: '/v1/images/generations',
        operation: 'image_generations',
        handle: (exchange) => imageGenerations(exchange, shelf),
      },
    ],
    keyOf: (exchange) => exchange.header('authorization')?.replace(/^Bearer\s+/i, ''),
    requestIdHeader: 'x-request-id',
    errorBody,
  };
}

function errorBody({ status, code, message, param }: WireError): unknown {
  const usual = status >= 500 ? (['server_error', null] as const) : undefined;
  const [type, usualCode] = WORDS[status] ?? usual ?? ['invalid_request_error', null];
  return { error: { message, type, param: param ?? null, code: code ?? usualCode } };
}

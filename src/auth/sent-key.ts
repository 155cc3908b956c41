import type { Request } from 'express';
import { bearerTokenOf } from '../common/secrets/bearer-token.js';

/** Where clients of Messages send the key. */
const KEY_HEADER = 'x-api-key';
/** Clients of Messages send it with every request. */
const VERSION_HEADER = 'anthropic-version';
/** The endpoints of Messages. */
const MESSAGES_PATH = /^\/v1\/messages(\/count_tokens)?\/?$/i;
const MODELS_PATH = /^\/v1\/models\/?$/i;

type Sent = Pick<Request, 'path' | 'headers'>;

/** Whether a request asks for the list of models in the form of Messages. */
export function wantsMessagesModels({ path, headers }: Sent): boolean {
  return headers[VERSION_HEADER] !== undefined && MODELS_PATH.test(path);
}

/**
 * The key of a request: from `Authorization`, and for clients of Messages also from `x-api-key` (decision G-17). Undefined
 * without one.
 */
export function sentKeyOf(request: Sent): string | undefined {
  const key = bearerTokenOf(request.headers.authorization);
  if (key !== undefined) return key;
  if (!MESSAGES_PATH.test(request.path) && !wantsMessagesModels(request)) return undefined;
  return bearerTokenOf(`Bearer ${String(request.headers[KEY_HEADER])}`);
}

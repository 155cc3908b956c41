import type { OwnErrors } from '../http/error-classification.js';
import { errorFactsOf } from '../http/error-facts.js';
import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import { ModelList } from '../http/model-list.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { ProbedPorts } from '../ports/provider-ports.js';
import { AnthropicChat } from './anthropic-chat.adapter.js';

/** The version of the protocol whose shapes the adapter knows. */
const VERSION = '2023-06-01';

/** How the vendor says that a prompt does not fit, alone or with the cap. Before it there is no text of the caller. */
const TOO_LONG = /^(prompt is too long\b|input length and `?max_tokens`? exceed context limit\b)/i;

/** A prompt that is too long has only the type of every bad request: its sentence names it. */
const ownErrors: OwnErrors = (_status, body) => {
  const message = errorFactsOf(body)?.message;
  if (message === undefined || !TOO_LONG.test(message)) return undefined;
  return { kind: 'rejected', code: 'context_length_exceeded', message };
};

/** Everything that a provider with Anthropic's wire protocol can do. Its base URL is without `/v1`. */
export function anthropicPorts(access: ProviderContext): ProbedPorts {
  const http = new ProviderHttp(access, {
    headers: { 'anthropic-version': VERSION, ...keyHeader(access, 'x-api-key') },
    ownErrors,
  });
  const probe = new ModelList(http, {
    path: '/v1/models?limit=1000',
    field: 'data',
    name: 'id',
    hasMore: (json) => json.has_more === true,
  });
  return { probe, chat: new AnthropicChat(http) };
}

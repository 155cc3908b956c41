import { type ApiFamily, typeInApiFamily } from './api-family.js';
import type { ErrorCode } from './error-table.js';
import type { ErrorEnvelope, ErrorFields, GatewayError } from './gateway-error.js';

/** The JSON body of an error of Messages. Its `error` has the fields of every other error, too. */
export interface MessagesErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: string;
    readonly param: string | null;
  } & ErrorFields;
  readonly request_id: string | null;
}

/** A provider that is overloaded has a status of its own in Messages. */
export const OVERLOADED = 529;
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  [OVERLOADED]: 'overloaded_error',
};
const OTHER_TYPE = 'api_error';
/** Every word by which the errors of Messages are told apart. */
export const MESSAGES_ERROR_TYPES: readonly string[] = [
  ...Object.values(MESSAGES_TYPES),
  OTHER_TYPE,
];
/** Clients of Messages know these sentences and act on them. */
const MESSAGES_SENTENCES: Partial<Record<ErrorCode, string>> = {
  invalid_token:
    'The API key is missing, invalid or revoked. Send it in the header `x-api-key`, or as `Authorization: Bearer <key>`.',
  provider_unavailable: 'Overloaded',
  provider_rate_limited: 'Number of request tokens has exceeded your rate limit. Retry later.',
};
/** How a refusal ends whose reason is that the conversation is too long. */
const TOO_LONG = ': context_length_exceeded.';
/** With these first words, clients of Messages shorten the conversation and try again. */
const TOO_LONG_SENTENCE =
  'prompt is too long: the conversation and its answer are more than the model takes (context_length_exceeded).';

/** The status of an error in its API family. */
export function statusInApiFamily({ code, status }: GatewayError, family: ApiFamily): number {
  return family === 'messages' && code === 'provider_unavailable' ? OVERLOADED : status;
}

/** The body of an error in its API family. `requestId` names the request, where the family shows it. */
export function bodyInApiFamily(
  error: GatewayError,
  family: ApiFamily,
  requestId: string | null = null,
): ErrorEnvelope | MessagesErrorBody {
  if (family !== 'messages') return error.toEnvelope(typeInApiFamily(error, family));
  const { message, ...fields } = error.toEnvelope().error;
  const type = MESSAGES_TYPES[statusInApiFamily(error, family)] ?? OTHER_TYPE;
  return {
    type: 'error',
    error: { ...fields, type, message: messagesSentence(error.code, message) },
    request_id: requestId,
  };
}

/** Whether the provider refused the conversation because it is too long. */
export function isTooLong({ message }: GatewayError): boolean {
  return message.endsWith(TOO_LONG);
}

function messagesSentence(code: ErrorCode, message: string): string {
  if (message.endsWith(TOO_LONG)) return TOO_LONG_SENTENCE;
  return MESSAGES_SENTENCES[code] ?? message;
}

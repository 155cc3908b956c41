import type { OpenAPIObject } from '@nestjs/swagger';
import {
  EXECUTION_ID_HEADER,
  MESSAGES_REQUEST_ID_HEADER,
} from '../../platform/http-server/responses/execution-id.js';
import { SANDBOX_HEADER } from '../../platform/http-server/responses/answer-copy.js';
import { type DocumentedOperation, operationsOf } from './document-bodies.js';

const TEXT = { schema: { type: 'string' } } as const;
const COUNT = { schema: { type: 'integer' } } as const;

/** Headers that more than one operation sends, by their name in the document. */
const HEADERS = {
  ExecutionId: { description: 'Names the request; quote it to support', required: true, ...TEXT },
  RequestId: {
    description: 'The same name, for clients that read this header',
    required: true,
    ...TEXT,
  },
  MessagesRequestId: { description: 'The same name, for clients of Messages', ...TEXT },
  ClientRequestId: { description: 'What the request sent as `X-Client-Request-Id`', ...TEXT },
  Sandbox: { description: '`true` where the sandbox made the answer', ...TEXT },
  RetryAfter: { description: 'Seconds until a retry makes sense', ...COUNT },
  ShouldRetry: { description: '`false` where a retry cannot help', ...TEXT },
  RateLimit: { description: 'Requests per minute of this key', ...COUNT },
  RateRemaining: { description: 'Requests that are left at once', ...COUNT },
  RateReset: { description: 'Time until all of them are back, such as `600ms`', ...TEXT },
};

const reference = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });

/** On every response. */
const EVERYWHERE = {
  [EXECUTION_ID_HEADER]: reference('ExecutionId'),
  'x-request-id': reference('RequestId'),
  'x-client-request-id': reference('ClientRequestId'),
};
/** On every response of `/v1`. */
const ON_WORK = {
  [SANDBOX_HEADER]: reference('Sandbox'),
  'x-ratelimit-limit-requests': reference('RateLimit'),
  'x-ratelimit-remaining-requests': reference('RateRemaining'),
  'x-ratelimit-reset-requests': reference('RateReset'),
};
/** On every response in the form of Messages. */
const ON_MESSAGES = { [MESSAGES_REQUEST_ID_HEADER]: reference('MessagesRequestId') };
const MESSAGES_PATHS = /^\/v1\/(models$|messages)/;
const ON_ERROR = { 'x-should-retry': reference('ShouldRetry') };
const ON_RETRY = { 'Retry-After': reference('RetryAfter') };

/** Statuses after which a retry makes sense. */
const RETRIED = new Set(['429', '503', '529']);

/** Adds the headers that every response of a kind has, and the request header for the caller's own id. */
export function describeHeaders(document: OpenAPIObject): void {
  document.components = {
    ...document.components,
    headers: HEADERS,
    parameters: {
      ClientRequestId: {
        name: 'X-Client-Request-Id',
        in: 'header',
        required: false,
        description:
          'A name of your own for the call, kept with it and sent back. Any other text is ignored',
        schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[ -~]+$' },
      },
    },
  };
  for (const [path, item] of Object.entries(document.paths)) {
    const isPublic = path.startsWith('/v1/');
    const ofPath = {
      ...EVERYWHERE,
      ...(isPublic && ON_WORK),
      ...(MESSAGES_PATHS.test(path) && ON_MESSAGES),
    };
    if (isPublic && item.post) nameable(item.post);
    for (const operation of operationsOf({ ...document, paths: { [path]: item } }))
      addHeaders(operation, ofPath);
  }
}

function nameable(operation: DocumentedOperation): void {
  const parameter = { $ref: '#/components/parameters/ClientRequestId' };
  operation.parameters = [...(operation.parameters ?? []), parameter];
}

function addHeaders(operation: DocumentedOperation, ofPath: typeof EVERYWHERE): void {
  for (const [status, answer] of Object.entries(operation.responses)) {
    if (!answer || '$ref' in answer) continue;
    answer.headers = {
      ...answer.headers,
      ...ofPath,
      ...(status >= '400' && ON_ERROR),
      ...(RETRIED.has(status) && ON_RETRY),
    };
  }
}

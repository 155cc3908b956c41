import type { OpenAPIObject } from '@nestjs/swagger';
import { EXECUTION_ID_HEADER } from '../../common/http/execution-id.js';
import { operationsOf } from './document-bodies.js';

const TEXT = { schema: { type: 'string' } } as const;
const COUNT = { schema: { type: 'integer' } } as const;
const API = /^\/(v1|admin)\//;

/** Headers that more than one operation answers, by the name they have in the document. */
const HEADERS = {
  ExecutionId: { description: 'Names the request; quote it to support', ...TEXT },
  ClientRequestId: { description: 'What the request sent as `X-Client-Request-Id`', ...TEXT },
  RetryAfter: { description: 'Seconds until a retry makes sense', ...COUNT },
  ShouldRetry: { description: '`false` where a retry cannot help', ...TEXT },
  RateLimit: { description: 'Requests per minute of this key', ...COUNT },
  RateRemaining: { description: 'Requests that are left at once', ...COUNT },
  RateReset: { description: 'Time until all of them are back, such as `600ms`', ...TEXT },
};

const reference = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });

const ON_SUCCESS = {
  [EXECUTION_ID_HEADER]: reference('ExecutionId'),
  'x-client-request-id': reference('ClientRequestId'),
};
const WITH_LIMIT = {
  'x-ratelimit-limit-requests': reference('RateLimit'),
  'x-ratelimit-remaining-requests': reference('RateRemaining'),
  'x-ratelimit-reset-requests': reference('RateReset'),
};
const ON_RETRY = {
  'Retry-After': reference('RetryAfter'),
  'x-should-retry': reference('ShouldRetry'),
};

/** Adds the headers that every answer of a kind has, and the one that a caller may name its request with. */
export function describeHeaders(document: OpenAPIObject): void {
  document.components = {
    ...document.components,
    headers: HEADERS,
    parameters: {
      ClientRequestId: {
        name: 'X-Client-Request-Id',
        in: 'header',
        required: false,
        description: 'A name of your own for the call, kept with it and sent back',
        schema: { type: 'string', maxLength: 128 },
      },
    },
  };
  const named = Object.entries(document.paths).filter(([path]) => API.test(path));
  for (const [path, item] of named) {
    const isPublic = path.startsWith('/v1/');
    if (isPublic && item.post) {
      const parameters = item.post.parameters ?? [];
      item.post.parameters = [...parameters, { $ref: '#/components/parameters/ClientRequestId' }];
    }
    for (const operation of operationsOf({ ...document, paths: { [path]: item } })) {
      for (const [status, answer] of Object.entries(operation.responses)) {
        if (!answer || '$ref' in answer) continue;
        const { headers } = answer;
        if (status.startsWith('2'))
          answer.headers = { ...headers, ...ON_SUCCESS, ...(isPublic && WITH_LIMIT) };
        if (status === '429' || status === '503') answer.headers = { ...headers, ...ON_RETRY };
      }
    }
  }
}

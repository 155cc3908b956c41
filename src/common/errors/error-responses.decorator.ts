import { MESSAGES_ERROR_TYPES, OVERLOADED } from './error-body.js';
import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import {
  ERROR_TABLE,
  ERROR_TYPES,
  type ErrorCode,
  type ErrorType,
  publicCodeOf,
} from './error-table.js';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

/** OpenAPI schema of the error envelope, `Error` in the document (API: Error envelope). */
export const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    type: { type: 'string', enum: ['error'], description: 'Of Messages alone' },
    request_id: {
      type: 'string',
      nullable: true,
      description: 'Of Messages alone: the id of the request',
    },
    error: {
      type: 'object',
      description: 'Why the request was refused or failed',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string', description: 'What is wrong and what to do, in words' },
        type: {
          type: 'string',
          enum: [...new Set([...ERROR_TYPES, ...MESSAGES_ERROR_TYPES])],
          description: 'The kind of error',
        },
        param: {
          type: 'string',
          nullable: true,
          description: 'The field at fault, such as `inputs.3.voice`, or the header',
        },
        code: {
          type: 'string',
          enum: distinct(CODES.map(publicCodeOf)),
          description: 'What went wrong, for programs',
        },
        needed_microusd: { type: 'string', description: 'With 402: what the call may cost' },
        available_microusd: {
          type: 'string',
          description:
            'With 402: the least of what the account and the limits of key and run leave',
        },
        max_tokens: {
          type: 'integer',
          description: 'With 402 of a chat: the largest output cap that fits; absent if none does',
        },
        topup_url: {
          type: 'string',
          description:
            'With 402 for want of balance: where the account gets more; absent if the gateway names no page',
        },
      },
    },
  },
};

const INVALID_VIDEO_REQUEST = 'invalid_video_request';

/** An example of each code, by its name in the document. */
export const ERROR_EXAMPLES = {
  ...Object.fromEntries(CODES.map((code) => [code, exampleWith(code, ERROR_TABLE[code].type)])),
  [INVALID_VIDEO_REQUEST]: exampleWith('invalid_request', 'invalid_request'),
};

/** The example of `invalid_request` at the endpoints of videos. */
export const VIDEO_EXAMPLE = exampleNamed(INVALID_VIDEO_REQUEST);

function exampleWith(code: ErrorCode, type: ErrorType) {
  const error = {
    message: ERROR_TABLE[code].meaning,
    type,
    param: null,
    code: publicCodeOf(code),
  };
  return { value: { error } };
}

/** Documents the error responses of an operation, one Swagger response per status, an example per code. */
export function ErrorResponses(...codes: ErrorCode[]): MethodDecorator & ClassDecorator {
  const statuses = distinct(codes.map((code) => ERROR_TABLE[code].status));
  return applyDecorators(
    ...statuses.map((status) =>
      responseOf(
        status,
        codes.filter((code) => ERROR_TABLE[code].status === status),
      ),
    ),
  );
}

/** Documents the status that only Messages has: a provider that is overloaded or down. */
export const OverloadedResponse = () => responseOf(OVERLOADED, ['provider_unavailable']);

function responseOf(status: number, codes: readonly ErrorCode[]) {
  return ApiResponse({
    status,
    description: codes
      .map((code) => `\`${publicCodeOf(code)}\`: ${ERROR_TABLE[code].meaning}`)
      .join('<br>'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [publicCodeOf(code), exampleNamed(code)])),
      },
    },
  });
}

function exampleNamed(name: string) {
  return { $ref: `#/components/examples/${name}` };
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

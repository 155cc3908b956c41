import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ERROR_TABLE, type ErrorCode, publicCodeOf } from './error-table.js';

/** OpenAPI schema of the error envelope (spec: Error envelope). */
const ENVELOPE_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: 'string', nullable: true },
        code: { type: 'string' },
      },
    },
  },
};

/** Documents the error answers of an operation, one Swagger response per status, an example per code. */
export function ErrorAnswers(...codes: ErrorCode[]): MethodDecorator & ClassDecorator {
  const statuses = [...new Set(codes.map((code) => ERROR_TABLE[code].status))];
  return applyDecorators(
    ...statuses.map((status) =>
      answerOf(
        status,
        codes.filter((code) => ERROR_TABLE[code].status === status),
      ),
    ),
  );
}

function answerOf(status: number, codes: readonly ErrorCode[]) {
  return ApiResponse({
    status,
    description: codes
      .map((code) => `\`${publicCodeOf(code)}\`: ${ERROR_TABLE[code].meaning}`)
      .join('<br>'),
    content: {
      'application/json': {
        schema: ENVELOPE_SCHEMA,
        examples: Object.fromEntries(codes.map((code) => [publicCodeOf(code), exampleOf(code)])),
      },
    },
  });
}

function exampleOf(code: ErrorCode) {
  const { meaning, type } = ERROR_TABLE[code];
  return { value: { error: { message: meaning, type, param: null, code: publicCodeOf(code) } } };
}

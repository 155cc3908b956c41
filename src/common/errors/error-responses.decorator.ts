import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ERROR_TABLE, type ErrorCode, publicCodeOf } from './error-table.js';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

/** OpenAPI schema of the error envelope, `Error` in the document (API: Error envelope). */
export const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string', enum: distinct(CODES.map((code) => ERROR_TABLE[code].type)) },
        param: {
          type: 'string',
          nullable: true,
          description: 'The field at fault, such as `inputs.3.voice`, or the header',
        },
        code: { type: 'string', enum: distinct(CODES.map(publicCodeOf)) },
      },
    },
  },
};

/** An example of each code, by its name in the document. */
export const ERROR_EXAMPLES = Object.fromEntries(
  CODES.map((code) => {
    const { meaning, type } = ERROR_TABLE[code];
    const error = { message: meaning, type, param: null, code: publicCodeOf(code) };
    return [code, { value: { error } }];
  }),
);

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

function responseOf(status: number, codes: readonly ErrorCode[]) {
  return ApiResponse({
    status,
    description: codes
      .map((code) => `\`${publicCodeOf(code)}\`: ${ERROR_TABLE[code].meaning}`)
      .join('<br>'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [publicCodeOf(code), exampleOf(code)])),
      },
    },
  });
}

function exampleOf(code: ErrorCode) {
  return { $ref: `#/components/examples/${code}` };
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

import { ApiBody } from '@nestjs/swagger';
import type { Dto } from './fields.js';

/**
 * Documents the JSON body of an operation with named examples. Swagger shows the first as the default. Each one runs
 * unchanged.
 */
export function BodyExamples<T extends object>(
  type: Dto<T>,
  examples: Readonly<Record<string, Partial<T>>>,
): MethodDecorator {
  return ApiBody({
    type,
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, value]) => [name, { summary: name, value }]),
    ),
  });
}

import { ApiBody } from '@nestjs/swagger';
import type { Dto } from './fields.js';

/**
 * Documents the JSON body of an operation with hand-written examples by name. Swagger shows the first as the default, and
 * each runs as it stands.
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

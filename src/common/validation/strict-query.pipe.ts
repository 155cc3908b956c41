import 'reflect-metadata';
import { type PipeTransform, Query } from '@nestjs/common';
import { validatorOf } from './compiled-validator.js';
import type { Dto } from './fields.js';
import { jsonOfTexts } from './form-fields.js';

/** Checks a query string against its class; numbers and booleans are converted by the declared type of the field. */
export class StrictQueryPipe<T extends object> implements PipeTransform<Record<string, string>, T> {
  constructor(private readonly dto: Dto<T>) {}

  transform(query: Record<string, string>): T {
    return validatorOf(this.dto).parse(jsonOfTexts(this.dto, query));
  }
}

/** `@StrictQuery() query: PageQuery`: like `@StrictBody()`, for the query string. */
export function StrictQuery(): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) throw new Error('@StrictQuery() belongs on a parameter of a handler');
    const types = Reflect.getMetadata('design:paramtypes', target, method) as readonly Dto[];
    const dto = types[index];
    if (dto === undefined) throw new Error(`${String(method)}: the query has no type`);
    Query(new StrictQueryPipe(dto))(target, method, index);
  };
}

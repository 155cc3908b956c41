import 'reflect-metadata';
import {
  Body,
  type PipeTransform,
  createParamDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import type { ErrorCode } from '../errors/error-table.js';
import { type CompiledValidator, validatorOf } from './compiled-validator.js';
import type { Dto } from './fields.js';
import type { Request } from 'express';
import { isJsonObject } from '../json-object.js';

/** Checks a parsed body against its request class; see `CompiledValidator.parse` for errors. */
export class StrictBodyPipe<T extends object> implements PipeTransform<unknown, T> {
  private readonly validator: CompiledValidator<T>;

  constructor(
    dto: Dto<T>,
    private readonly code: ErrorCode = 'invalid_request',
  ) {
    this.validator = validatorOf(dto);
  }

  transform(body: unknown): T {
    return this.validator.parse(body, this.code);
  }
}

/**
 * `@StrictBody() body: SpeechBody`: the body, strictly validated against the class written as the parameter's type, which
 * Swagger reads too. Compiled when the controller class is loaded; throws then if the type is not a request class.
 */
export function StrictBody(code?: ErrorCode): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined) throw new Error('@StrictBody() belongs on a parameter of a handler');
    const types = Reflect.getMetadata('design:paramtypes', target, method) as readonly Dto[];
    const dto = types[index];
    if (dto === undefined) throw new Error(`${String(method)}: the body has no type`);
    Body(new StrictBodyPipe(dto, code))(target, method, index);
  };
}

/**
 * The fields of a JSON body that are null. In an update request, null clears a field, and an absent field stays
 * unchanged.
 */
export const ClearedFields = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ReadonlySet<string> => {
    const body: unknown = context.switchToHttp().getRequest<Request>().body;
    return new Set(
      isJsonObject(body) ? Object.keys(body).filter((name) => body[name] === null) : [],
    );
  },
);

import { applyDecorators, Post, SetMetadata } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { OPERATIONS } from '../catalog/operations.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import { OPERATION } from './model.guard.js';

/** The handler serves the operation: at its path, and in its group on the page of the API. */
export function OperationEndpoint(operation: Operation): MethodDecorator {
  const { path, tag } = OPERATIONS[operation];
  return applyDecorators(Post(path), ApiTags(tag), SetMetadata(OPERATION, operation));
}

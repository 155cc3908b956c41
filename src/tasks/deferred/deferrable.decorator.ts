import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ApiAcceptedResponse, ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { CallFace } from '../../admission/call-endpoint.decorators.js';
import type { ErrorCode } from '../../common/errors/error-table.js';
import { MAX_URL_CHARACTERS } from '../../platform/http-client/public-url.js';
import { TASK_HEADERS } from '../submission/task-endpoint.decorator.js';
import { TaskView } from '../task.view.js';
import { CallResultView } from './call-result.view.js';
import { DeferrableModelGuard, ReplayedCallInterceptor } from './deferred-replay.js';

const ONLY_THEN = 'Only with `Prefer: respond-async`';

/** What a body has only where its call becomes a task. The guard takes it out, so the checked body never has it. */
export class DeferrableBody {
  @ApiProperty({
    required: false,
    format: 'uri',
    maxLength: MAX_URL_CHARACTERS,
    description: `${ONLY_THEN}: https URL told the end`,
  })
  webhook?: string;

  @ApiProperty({
    required: false,
    minLength: 16,
    maxLength: 256,
    description: `${ONLY_THEN}: signs deliveries; required with webhook`,
  })
  webhook_secret?: string;
}

/** How the endpoint of a call that may become a task differs. */
export const DEFERRABLE = {
  modelGuard: DeferrableModelGuard,
  preferences: '. `respond-async`: 202 with a task, which takes an `Idempotency-Key`',
} satisfies Partial<CallFace>;

/** Errors of a call that becomes a task. */
export const DEFERRED_CODES: readonly ErrorCode[] = [
  'invalid_task_command',
  'idempotency_conflict',
];

/** The call becomes a task with `Prefer: respond-async`: documents that, and answers replays. Used with {@link DEFERRABLE}. */
export function Deferrable(): MethodDecorator {
  const schema = { $ref: getSchemaPath(TaskView) };
  return applyDecorators(
    UseInterceptors(ReplayedCallInterceptor),
    ApiExtraModels(TaskView, CallResultView),
    ApiAcceptedResponse({
      description: 'With `Prefer: respond-async`: the task, whose content is the answer',
      content: { 'application/json': { schema, example: QUEUED } },
      headers: {
        ...TASK_HEADERS,
        'Preference-Applied': { description: '`respond-async`', schema: { type: 'string' } },
      },
    }),
  );
}

const QUEUED = {
  id: 'task_0193a5e2f0c47b1d8e6f5a4b3c2d1e12',
  object: 'task',
  status: 'queued',
  model: 'aud-v4',
  modality: 'audio',
  progress: null,
  result: null,
  error: null,
  reserved_microusd: '600',
  charged_microusd: null,
  created_at: 1_795_663_547,
  completed_at: null,
};

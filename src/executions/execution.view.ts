import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../common/ids/public-id.js';
import { pageOfViews } from '../common/paging/page.view.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { toEpochSeconds } from '../common/time/clock.js';
import type { Execution } from './execution.js';

const nullable = { nullable: true, type: String } as const;

/** What happened to one synchronous call (interface: GET /v1/executions/{id}). */
export class ExecutionView {
  @ApiProperty({ example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a' })
  id!: string;

  @ApiProperty({ enum: ['execution'] })
  object!: 'execution';

  @ApiProperty({ enum: ['running', 'succeeded', 'failed'] })
  status!: string;

  @ApiProperty({ example: 'aud-v4' })
  model!: string;

  @ApiProperty({ example: '/v1/audio/speech' })
  endpoint!: string;

  @ApiProperty({ ...nullable, description: 'Code of the error the caller got' })
  error_code!: string | null;

  @ApiProperty({ ...nullable, example: '600', description: 'Null until the call succeeded' })
  charged_microusd!: string | null;

  @ApiProperty({ ...nullable, description: "The provider's own id of the call" })
  provider_request_id!: string | null;

  @ApiProperty({ ...nullable, description: 'As sent in `X-Client-Request-Id`' })
  client_request_id!: string | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty({ nullable: true, type: Number, description: 'Epoch seconds' })
  completed_at!: number | null;
}

/** A page of executions. */
export class ExecutionPage extends pageOfViews(ExecutionView) {}

/** An execution as its account may see it: the provider stays unnamed. */
export function viewExecution(execution: Execution): ExecutionView {
  const { chargedMicroUsd, completedAt } = execution;
  return {
    id: toPublicId('exec', execution.id),
    object: 'execution',
    status: execution.status,
    model: execution.model,
    endpoint: execution.endpoint,
    error_code: execution.errorCode,
    charged_microusd: chargedMicroUsd === null ? null : formatMicroUsd(chargedMicroUsd),
    provider_request_id: execution.providerRequestId,
    client_request_id: execution.clientRequestId,
    created_at: toEpochSeconds(execution.createdAt),
    completed_at: completedAt === null ? null : toEpochSeconds(completedAt),
  };
}

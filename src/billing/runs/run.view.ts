import { ApiProperty } from '@nestjs/swagger';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type { Run } from './run.js';

/** What the calls and tasks of one run spent (API: GET /v1/runs). */
export class RunView {
  @ApiProperty({ enum: ['run'], description: 'Says what kind of object this is' })
  object!: 'run';

  @ApiProperty({ example: 'build-42', description: 'As sent in `x-gateway-run`' })
  id!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '5000000',
    description: 'The most that it may spend, in micro-USD; null: it only counts',
  })
  limit_microusd!: string | null;

  @ApiProperty({
    example: '1250',
    description: 'What its calls and tasks cost, less what was given back',
  })
  spent_microusd!: string;

  @ApiProperty({ example: '0', description: 'What its running calls and open tasks hold' })
  held_microusd!: string;

  @ApiProperty({ type: 'integer', example: 3, description: 'Calls and tasks that began' })
  calls!: number;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty({ description: 'When its newest call began, epoch seconds' })
  last_used_at!: number;
}

/** A page of runs. */
export class RunPage extends pageOfViews(RunView) {}

/** A run as its account sees it. */
export function viewRun(run: Run): RunView {
  return {
    object: 'run',
    id: run.id,
    limit_microusd: run.limitMicroUsd === null ? null : formatMicroUsd(run.limitMicroUsd),
    spent_microusd: formatMicroUsd(run.spentMicroUsd),
    held_microusd: formatMicroUsd(run.heldMicroUsd),
    calls: run.calls,
    created_at: toEpochSeconds(run.createdAt),
    last_used_at: toEpochSeconds(run.lastUsedAt),
  };
}

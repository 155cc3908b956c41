import { ApiProperty } from '@nestjs/swagger';

const latency = {
  nullable: true,
  type: 'integer',
  description: 'Milliseconds, within 5 %',
} as const;

/** What calls cost at their providers and left. */
export class EarnedOverview {
  @ApiProperty({
    nullable: true,
    type: String,
    example: '350',
    description: 'Micro-USD that the calls cost at their providers, as far as known; null: none is',
  })
  cost_microusd!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '250',
    description:
      'What was charged less the cost; null unless the cost of every call that succeeded is known',
  })
  margin_microusd!: string | null;

  @ApiProperty({ type: 'integer', description: 'Calls that succeeded and whose cost is known' })
  cost_known_calls!: number;
}

/** Usage of all accounts in a time. */
export class UsageOverview {
  @ApiProperty({ type: 'integer', description: 'Calls and tasks that ended' })
  calls!: number;

  @ApiProperty({ type: 'integer', description: 'Those of them that failed' })
  failures!: number;

  @ApiProperty(latency)
  latency_p50_ms!: number | null;

  @ApiProperty(latency)
  latency_p99_ms!: number | null;

  @ApiProperty({ example: '600', description: 'Micro-USD charged less what was given back' })
  charged_microusd!: string;

  @ApiProperty({ type: EarnedOverview, description: 'Cost and margin' })
  earned!: EarnedOverview;
}

/** Usage of all accounts in an hour. */
export class HourOverview extends UsageOverview {
  @ApiProperty({ example: '2026-01-31T14:00:00Z', description: 'When the hour begins, of UTC' })
  hour!: string;
}

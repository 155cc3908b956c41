import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { marginOf } from '../cost-sums.js';
import type { UsageRow } from './usage-reports.js';
import { CoveredDays, UsageView, viewUsage } from './usage.view.js';

/** What operators see of a group besides. */
export class OperatorGroupFields {
  @ApiProperty({ required: false, description: 'Beside `account_id`' })
  account_name?: string;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    example: 'openai',
    description:
      'Id of the provider that was called last; where usage is grouped by `provider`. Null: none was, or it is not known',
  })
  provider?: string | null;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    example: 'gpt-5',
    description: 'Its name for the model; where usage is grouped by `upstream_model`',
  })
  upstream_model?: string | null;

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
      '`charged_microusd` less the cost; null unless the cost of every call that succeeded is known',
  })
  margin_microusd!: string | null;

  @ApiProperty({
    type: 'integer',
    description:
      'Calls that succeeded and whose cost is known: all of them where it equals `calls` less `failures`',
  })
  cost_known_calls!: number;
}

/** The usage of one group, for operators. */
export class AdminUsageView extends IntersectionType(UsageView, OperatorGroupFields) {}

/** A page of usage, for operators. */
export class AdminUsagePage extends IntersectionType(pageOfViews(AdminUsageView), CoveredDays) {}

/** What only operators see of a group. */
export function viewOperatorGroup(row: UsageRow): OperatorGroupFields {
  const { account_name: name, provider, upstream_model: upstream } = row;
  const { costMicroUsd: cost, marginMicroUsd: margin, costKnownCalls } = marginOf(row);
  return {
    ...(name !== undefined && { account_name: name }),
    ...(provider !== undefined && { provider: provider || null }),
    ...(upstream !== undefined && { upstream_model: upstream || null }),
    cost_microusd: cost === null ? null : formatMicroUsd(cost),
    margin_microusd: margin === null ? null : formatMicroUsd(margin),
    cost_known_calls: costKnownCalls,
  };
}

/** The group as operators see it. */
export function viewAdminUsage(row: UsageRow): AdminUsageView {
  return { ...viewUsage(row), ...viewOperatorGroup(row) };
}

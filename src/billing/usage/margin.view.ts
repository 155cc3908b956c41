import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import { csvOf } from '../../common/csv.js';
import { pageOfViews, type PageView } from '../../common/paging/page.view.js';
import type { UsageRow } from './usage-reports.js';
import type { UsageDimension } from './usage-request.js';
import { OperatorGroupFields, viewOperatorGroup } from './admin-usage.view.js';
import { NAME_OF_DIMENSION } from './usage-csv.js';
import { CoveredDays, UsageView, viewGroup, viewUsage } from './usage.view.js';

const MEASURES = [
  'calls',
  'failures',
  'cost_known_calls',
  'charged_microusd',
  'refunded_microusd',
  'cost_microusd',
  'margin_microusd',
  'margin_percent',
  'sold_below_cost',
] as const;
/** Hundredths of a percent in a whole. */
const WHOLE = 10_000n;

/** What a group of calls was sold for, cost and left. */
export class MarginView extends IntersectionType(
  PickType(UsageView, [
    'day',
    'hour',
    'model',
    'api_key_id',
    'endpoint',
    'run',
    'account_id',
    'calls',
    'failures',
    'charged_microusd',
    'refunded_microusd',
  ] as const),
  OperatorGroupFields,
) {
  @ApiProperty({ enum: ['margin'], description: 'Says what kind of object this is' })
  object!: 'margin';

  @ApiProperty({
    nullable: true,
    type: Number,
    example: 41.66,
    description:
      'The margin as a part of what was charged, cut to two decimals; null where it is not known or nothing was charged',
  })
  margin_percent!: number | null;

  @ApiProperty({ type: 'integer', description: 'Calls that were charged less than they cost' })
  sold_below_cost!: number;
}

/** A page of margins. */
export class MarginPage extends IntersectionType(pageOfViews(MarginView), CoveredDays) {}

/** The margin of a group. */
export function viewMargin(row: UsageRow): MarginView {
  const {
    calls,
    failures,
    charged_microusd: charged,
    refunded_microusd: refunded,
  } = viewUsage(row);
  const ofOperator = viewOperatorGroup(row);
  const { margin_microusd: margin } = ofOperator;
  return {
    object: 'margin',
    ...viewGroup(row),
    ...ofOperator,
    calls,
    failures,
    charged_microusd: charged,
    refunded_microusd: refunded,
    margin_percent: margin === null ? null : percentOf(BigInt(margin), BigInt(charged)),
    sold_below_cost: Number(row.below_cost),
  };
}

function percentOf(margin: bigint, charged: bigint): number | null {
  if (charged <= 0n) return null;
  return Number((margin * WHOLE) / charged) / 100;
}

/** The page as CSV. Null is empty. */
export function csvOfMargins(
  { data }: PageView<MarginView>,
  groupBy: readonly UsageDimension[],
): string {
  const names = [
    ...groupBy.map((dimension) => NAME_OF_DIMENSION[dimension]),
    ...(groupBy.includes('account') ? (['account_name'] as const) : []),
    ...MEASURES,
  ] as (keyof MarginView)[];
  return csvOf(
    names,
    data.map((row) => names.map((name) => row[name])),
  );
}

import { csvOf } from '../../common/csv.js';
import type { PageView } from '../../common/paging/page.view.js';
import { TOKEN_SUMS } from '../token-sums.js';
import type { AdminUsageView } from './admin-usage.view.js';
import type { UsageDimension } from './usage-request.js';
import type { UsageView } from './usage.view.js';

/** The name of each dimension in answers. */
export const NAME_OF_DIMENSION: Readonly<Record<UsageDimension, keyof AdminUsageView>> = {
  day: 'day',
  hour: 'hour',
  model: 'model',
  key: 'api_key_id',
  endpoint: 'endpoint',
  run: 'run',
  account: 'account_id',
  provider: 'provider',
  upstream_model: 'upstream_model',
};
const MEASURES = [
  'calls',
  'failures',
  'quantity',
  'charged_microusd',
  'latency_p50_ms',
  'latency_p99_ms',
  'unit',
  'charged_usd',
  'refunded_microusd',
  'refunded_usd',
  'refunded_goodwill_microusd',
  'refunded_fault_microusd',
  'refunded_billing_error_microusd',
  ...TOKEN_SUMS,
] as const;
const OPERATOR_MEASURES = ['cost_microusd', 'margin_microusd', 'cost_known_calls'] as const;

/** The page as CSV: a line of names, then one line per group. Null is empty. */
export function csvOfUsage(
  { data }: PageView<UsageView | AdminUsageView>,
  groupBy: readonly UsageDimension[],
  isOperator = false,
): string {
  const hasNames = isOperator && groupBy.includes('account');
  const names: (keyof AdminUsageView)[] = [
    ...groupBy.map((dimension) => NAME_OF_DIMENSION[dimension]),
    ...MEASURES,
    ...(hasNames ? (['account_name'] as const) : []),
    ...(isOperator ? OPERATOR_MEASURES : []),
  ];
  return csvOf(
    names,
    data.map((row) => names.map((name) => (row as AdminUsageView)[name])),
  );
}

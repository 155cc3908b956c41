import type { Shape } from './api.js';
import { count, usd } from './money.js';
import { duration } from './time.js';

type Sums = 'calls' | 'failures' | 'charged_microusd';

/** A row of usage or of margins: only what was asked for is present. */
export type UsageRow = Pick<Shape<'UsageView'>, Sums> &
  Partial<Omit<Shape<'AdminUsageView'>, Sums | 'object'>> &
  Partial<Pick<Shape<'MarginView'>, 'sold_below_cost'>>;

/** Micro-USD, or a number; null: it is not known. */
export type Value = number | bigint | null;

/** What is counted, and how the values of several rows become one. */
export interface Metric {
  /** As the address has it. */
  readonly id: string;
  readonly name: string;
  readonly kind: 'money' | 'count' | 'time';
  /** `sum`: added, unknown ones left out; `whole`: added, unknown where one is; `most`: the largest. */
  readonly fold: 'sum' | 'whole' | 'most';
  /** It counts one unit only, so its rows must be of one endpoint each. */
  readonly isOfUnit?: boolean;
  readonly of: (row: UsageRow) => Value;
}

const money = (microUsd: string | null | undefined): Value =>
  microUsd === null || microUsd === undefined ? null : BigInt(microUsd);
const ofUnit = (id: string, name: string, unit: UsageRow['unit']): Metric => ({
  ...{ id, name, kind: 'count', fold: 'sum', isOfUnit: true },
  of: ({ unit: own, quantity }) => (own === unit ? (quantity ?? 0) : 0),
});
const sum = (id: string, name: string, of: Metric['of'], kind: Metric['kind'] = 'count') =>
  ({ id, name, kind, fold: 'sum', of }) as const;

export const CHARGED: Metric = sum(
  ...(['charged', 'Charged', (row: UsageRow) => money(row.charged_microusd), 'money'] as const),
);
export const CALLS: Metric = sum('calls', 'Calls', ({ calls }) => calls);
export const FAILURES: Metric = sum('failures', 'Failed', ({ failures }) => failures);
export const COST: Metric = sum('cost', 'Cost', (row) => money(row.cost_microusd), 'money');
export const MARGIN: Metric = {
  ...{ id: 'margin', name: 'Margin', kind: 'money', fold: 'whole' },
  of: (row) => money(row.margin_microusd),
};
export const BELOW_COST: Metric = sum(
  ...(['below', 'Sold below cost', (row: UsageRow) => row.sold_below_cost ?? 0] as const),
);
/** What everybody may see of their usage. */
export const USAGE_METRICS: readonly Metric[] = [
  CHARGED,
  CALLS,
  FAILURES,
  sum('refunded', 'Given back', (row) => money(row.refunded_microusd), 'money'),
  sum('input_tokens', 'Input tokens', (row) => row.input_tokens ?? 0),
  sum('cached_tokens', 'Input tokens from a cache', (row) => row.cached_tokens ?? 0),
  sum('output_tokens', 'Output tokens', (row) => row.output_tokens ?? 0),
  sum('reasoning_tokens', 'Output tokens of reasoning', (row) => row.reasoning_tokens ?? 0),
  ofUnit('characters', 'Characters', 'code_point'),
  ofUnit('seconds', 'Seconds', 'second'),
  ofUnit('images', 'Images', 'image'),
  ofUnit('tasks', 'Songs, videos and dubs', 'task'),
  {
    ...{ id: 'p50', name: 'Half end within', kind: 'time', fold: 'most' },
    of: (row) => row.latency_p50_ms ?? null,
  },
  {
    ...{ id: 'p99', name: '99 % end within', kind: 'time', fold: 'most' },
    of: (row) => row.latency_p99_ms ?? null,
  },
];

/** Rows that are of one thing, and their values by the ids of metrics. */
export interface Group {
  readonly key: string;
  /** One of the rows, for what all of them are of. */
  readonly row: UsageRow;
  readonly values: Readonly<Record<string, Value>>;
}

function folded({ fold }: Metric, one: Value, other: Value): Value {
  if (one === null || other === null) return fold === 'whole' ? null : (one ?? other);
  if (fold === 'most') return one > other ? one : other;
  if (typeof one === 'bigint' && typeof other === 'bigint') return one + other;
  return Number(one) + Number(other);
}

/** One group for each key, in the order in which the keys come first. */
export function groupsOf(
  rows: readonly UsageRow[],
  keyOf: (row: UsageRow) => string,
  metrics: readonly Metric[],
): Group[] {
  const groups = new Map<string, { row: UsageRow; values: Record<string, Value> }>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    const values = metrics.map((metric) => {
      const value = metric.of(row);
      const before = group?.values[metric.id];
      return [metric.id, before === undefined ? value : folded(metric, before, value)] as const;
    });
    groups.set(key, { row: group?.row ?? row, values: Object.fromEntries(values) });
  }
  return [...groups].map(([key, { row, values }]) => ({ key, row, values }));
}

/** All rows as one group's values; null where there is no row. */
export function totalsOf(
  rows: readonly UsageRow[],
  metrics: readonly Metric[],
): Group['values'] | undefined {
  return groupsOf(rows, () => '', metrics)[0]?.values;
}

/** A value in words. */
export function shownValue({ kind }: Metric, value: Value | undefined): string {
  if (value === null || value === undefined) return '–';
  if (kind === 'money') return usd(BigInt(value));
  return kind === 'time' ? duration(Number(value)) : count(value);
}

/** A value as a number that a chart draws: dollars, milliseconds, or a count. */
export const drawnValue = ({ kind }: Metric, value: Value): number | null => {
  if (value === null) return null;
  return kind === 'money' ? Number(value) / 1e6 : Number(value);
};

/** The order of values, the least first; unknown ones are behind all. */
export function compareValues(one: Value | undefined, other: Value | undefined): number {
  const [a, b] = [one ?? null, other ?? null];
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : Number(a > b);
}

/** The same with the most first; unknown ones are behind all too. */
export function compareFalling(one: Value | undefined, other: Value | undefined): number {
  const areKnown = [one, other].every((value) => value !== null && value !== undefined);
  return areKnown ? compareValues(other, one) : compareValues(one, other);
}

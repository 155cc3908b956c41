import { count } from './money.js';
import { type DimensionId, dimensionKey, dimensionWords } from './usage-dimensions.js';
import { type Roll, timeOfRow } from './usage-span.js';
import {
  compareFalling,
  drawnValue,
  groupsOf,
  type Metric,
  type UsageRow,
  type Value,
} from './usage-values.js';

/** The last of ten lines is of all others. */
const MOST_LINES = 9;
const OTHERS = '\u0000others';

/** A point of time, and the value of each line at it. */
export interface ChartPoint {
  readonly time: number;
  readonly values: readonly Value[];
}

/** The lines of a chart over the same points of time. */
export interface ChartLines {
  readonly names: readonly string[];
  readonly points: readonly ChartPoint[];
}

/** One line for each metric, of all rows. */
export function linesOfMetrics(
  rows: readonly UsageRow[],
  metrics: readonly Metric[],
  roll: Roll,
  times: readonly number[],
): ChartLines {
  const groups = groupsOf(rows, (row) => String(timeOfRow(row, roll)), metrics);
  const at = new Map(groups.map(({ key, values }) => [key, values]));
  return {
    names: metrics.map(({ name }) => name),
    points: times.map((time) => ({
      time,
      values: metrics.map((metric) => valueAt(metric, at.get(String(time))?.[metric.id])),
    })),
  };
}

/** One line for each of the largest things of a dimension, and one for all others where they can be added. */
export function linesOfDimension(
  rows: readonly UsageRow[],
  metric: Metric,
  id: DimensionId,
  roll: Roll,
  times: readonly number[],
): ChartLines {
  const keyOf = (row: UsageRow) => dimensionKey(id, row, roll);
  const all = groupsOf(rows, keyOf, [metric]).toSorted((one, other) =>
    compareFalling(one.values[metric.id], other.values[metric.id]),
  );
  const shown = all.slice(0, MOST_LINES);
  const others = metric.fold === 'most' ? 0 : all.length - shown.length;
  const keys = shown.map(({ key }) => key);
  const isShown = new Set(keys);
  const lineOf = (row: UsageRow) => (isShown.has(keyOf(row)) ? keyOf(row) : OTHERS);
  const groups = groupsOf(rows, (row) => `${timeOfRow(row, roll)} ${lineOf(row)}`, [metric]);
  const at = new Map(groups.map(({ key, values }) => [key, values[metric.id]]));
  const lines = others > 0 ? [...keys, OTHERS] : keys;
  const names = shown.map(({ row }) => dimensionWords(id, row, roll));
  return {
    names: others > 0 ? [...names, `${count(others)} others`] : names,
    points: times.map((time) => ({
      time,
      values: lines.map((line) => valueAt(metric, at.get(`${time} ${line}`))),
    })),
  };
}

/** Nothing is zero of what is added, and unknown of a length of time. */
function valueAt({ kind }: Metric, value: Value | undefined): Value {
  if (value !== undefined) return value;
  if (kind === 'time') return null;
  return kind === 'money' ? 0n : 0;
}

/** The lines as numbers that a chart draws. */
export function drawnLines(
  { names, points }: ChartLines,
  metricOf: (line: number) => Metric,
): { readonly name: string; readonly values: readonly (number | null)[] }[] {
  return names.map((name, line) => ({
    name,
    values: points.map(({ values }) => drawnValue(metricOf(line), values[line] ?? null)),
  }));
}

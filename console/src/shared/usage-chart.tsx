import { useMemo } from 'preact/hooks';
import { Chart } from './chart.js';
import { axisUsd, count } from './money.js';
import { Panel } from './parts.js';
import type { Column } from './table.js';
import { duration } from './time.js';
import { dimensionName, type DimensionId, PointOfTime } from './usage-dimensions.js';
import type { UsageRows } from './usage-rows.js';
import { type ChartPoint, drawnLines, linesOfDimension, linesOfMetrics } from './usage-series.js';
import { pointsBetween, type Roll, secondsOfText } from './usage-span.js';
import { type Metric, shownValue } from './usage-values.js';

const AXES = {
  money: axisUsd,
  count: (value: number): string => (Number.isInteger(value) ? count(value) : ''),
  time: (value: number): string => duration(value),
} as const;

const MOST_OF_HEAD = 32;
const END_OF_HEAD = 8;

/** A long name as the head of a column. */
const shortened = (name: string): string =>
  name.length <= MOST_OF_HEAD
    ? name
    : `${name.slice(0, MOST_OF_HEAD - END_OF_HEAD - 1)}…${name.slice(-END_OF_HEAD)}`;

/** "Charged, cost and margin". */
function inWords(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const words = [first, ...others.map((name) => name.toLowerCase())];
  const last = words.pop() ?? '';
  return words.length === 0 ? last : `${words.join(', ')} and ${last}`;
}

interface UsageChartProps {
  readonly metric: Metric;
  readonly by: DimensionId | undefined;
  readonly roll: Roll;
  readonly inTime: UsageRows;
  /** Null: the lines are of all rows. */
  readonly ofLines: UsageRows | null;
  /** One line for each; absent: one line for each of the largest things. */
  readonly lines?: readonly Metric[];
}

/** What was used over time. Values that are added stand on each other, as long as none is below zero. */
export function UsageChart(props: UsageChartProps) {
  const { metric, by, roll, inTime, lines } = props;
  const ofLines = props.ofLines?.isCut ? null : props.ofLines;
  const chart = useMemo(() => {
    const [from, to] = [secondsOfText(inTime.from), secondsOfText(inTime.to)];
    const times = pointsBetween(from, to, roll);
    const drawn =
      ofLines === null || by === undefined
        ? linesOfMetrics(inTime.rows, lines ?? [metric], roll, times)
        : linesOfDimension(ofLines.rows, metric, by, roll, times);
    const metricOf = (line: number) => lines?.[line] ?? metric;
    const series = drawnLines(drawn, metricOf);
    const isAdded = lines === undefined && metric.fold === 'sum';
    return {
      ...{ times, series },
      isStacked:
        isAdded && series.every(({ values }) => values.every((value) => (value ?? 0) >= 0)),
      columns: [
        {
          head: dimensionName('time', roll),
          cell: ({ time }: ChartPoint) => <PointOfTime at={time} roll={roll} />,
        },
        ...drawn.names.map((name, line): Column<ChartPoint> => ({
          ...{ head: shortened(name), isNumber: true },
          cell: ({ values }) => shownValue(metricOf(line), values[line]),
        })),
      ],
      rows: drawn.points,
    };
  }, [inTime, ofLines, metric, by, roll, lines]);
  const what = inWords((lines ?? [metric]).map(({ name }) => name));
  const ofWhat = by === undefined || ofLines === null ? '' : ` by ${dimensionName(by)}`;
  return (
    <Panel title={`${what} per ${roll}${ofWhat.toLowerCase()}`}>
      {props.ofLines?.isCut === true && (
        <p class="notice wait">
          There are too many lines for this time: the chart is of all of them together. A filter or
          a shorter time shows them apart.
        </p>
      )}
      <Chart name={`${what} per ${roll}`} {...chart} format={AXES[metric.kind]} />
    </Panel>
  );
}

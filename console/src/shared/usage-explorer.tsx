import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, percent } from './money.js';
import { Empty, Figures, Loading, Panel, Problem } from './parts.js';
import { UsageChart } from './usage-chart.js';
import {
  UsageControls,
  type UsageAsked,
  type UsageChoices,
  useUsageAsked,
} from './usage-controls.js';
import { CsvButton } from './usage-csv.js';
import type { DimensionId } from './usage-dimensions.js';
import { type ReadUsage, type UsageQuery, type UsageRows, useUsageRows } from './usage-rows.js';
import { secondsOfText } from './usage-span.js';
import { UsageTable, type WorkedOut } from './usage-table.js';
import { CALLS, FAILURES, type Metric, shownValue, totalsOf, type Value } from './usage-values.js';

/** What an explorer shows, and where it reads it. */
export interface Explored extends UsageChoices {
  readonly path: '/v1/usage' | '/admin/usage' | '/admin/margin';
  readonly read: ReadUsage;
  /** The columns that are always there. */
  readonly columns: readonly Metric[];
  /** The lines of the chart; absent: those of the largest things of what is counted. */
  readonly lines?: readonly Metric[];
  /** The order of the table; absent: the most of what is counted first. */
  readonly usualSort?: string;
  readonly thenLeast?: Metric;
  readonly workedOut?: readonly WorkedOut[];
  readonly filtersTasksByKey: boolean;
  /** Why there is no CSV for this reader. */
  readonly noCsv?: string;
  /** The next command where nothing was used at all. */
  readonly firstCall: string;
}

/** Usage by anything: the fields, the sums, a chart and a table. */
export function UsageExplorer({ of }: { readonly of: Explored }) {
  const asked = useUsageAsked(of);
  const queries = queriesFor(of, asked);
  const inTime = useUsageRows(of.path, of.read, queries.inTime);
  const ofLines = useUsageRows(of.path, of.read, queries.ofLines);
  const inTable = useUsageRows(of.path, of.read, queries.inTable);
  const error = inTime.error ?? ofLines.error ?? inTable.error;
  const { noCsv } = of;
  return (
    <>
      <Panel title="What to show">
        <UsageControls choices={of} span={asked.span} />
        <div class="row">
          {noCsv === undefined ? (
            <CsvButton path={of.path} query={queries.inTable} />
          ) : (
            <span class="soft">{noCsv}</span>
          )}
          <span class="soft small">
            Calls count when they end. Days and months are of UTC. The address keeps all of this.
          </span>
        </div>
      </Panel>
      {error !== null && <Problem error={error} />}
      {error === null && inTime.data === undefined && <Loading />}
      {error === null && inTime.data !== undefined && (
        <Shown
          of={of}
          asked={asked}
          inTime={inTime.data}
          ofLines={queries.ofLines === undefined ? null : ofLines.data}
          inTable={inTable.data}
        />
      )}
    </>
  );
}

/** The rows by time, by time and what the lines are of, and of the table. */
function queriesFor(of: Explored, { span, metric, dimensions, filters }: UsageAsked) {
  const { from, to, roll } = span;
  const base = { ...filters, ...(from && { from }), ...(to && { to }) };
  const time = roll === 'hour' ? 'hour' : 'day';
  const ofUnit = metric.isOfUnit ? ['endpoint'] : [];
  const query = (...words: readonly string[]): UsageQuery => ({
    ...base,
    group_by: [...new Set([...words, ...ofUnit])].join(','),
  });
  const named = dimensions.filter((id): id is Exclude<DimensionId, 'time'> => id !== 'time');
  const isInTime = roll === 'hour' || dimensions.includes('time');
  const [first] = named;
  return {
    inTime: query(time),
    ofLines: first === undefined || of.lines ? undefined : query(time, first),
    inTable: query(...(isInTime ? [time] : []), ...named),
  };
}

interface ShownProps {
  readonly of: Explored;
  readonly asked: UsageAsked;
  readonly inTime: UsageRows;
  /** Null: the chart has lines of metrics. */
  readonly ofLines: UsageRows | undefined | null;
  readonly inTable: UsageRows | undefined;
}

function Shown({ of, asked, inTime, ofLines, inTable }: ShownProps) {
  const { metric, dimensions, span, filters } = asked;
  const metrics = useMemo(
    () => (of.columns.includes(metric) ? of.columns : [...of.columns, metric]),
    [of, metric],
  );
  const times = useMemo(
    () => ({ from: secondsOfText(inTime.from), to: secondsOfText(inTime.to) }),
    [inTime],
  );
  if (inTime.rows.length === 0) {
    const isNarrowed = Object.keys(filters).length > 0;
    return (
      <Panel title="Nothing">
        <Empty command={isNarrowed ? undefined : of.firstCall}>
          {isNarrowed
            ? 'Nothing of this kind ended in this time.'
            : 'Nothing ended in this time. A call, with an API key:'}
        </Empty>
      </Panel>
    );
  }
  return (
    <>
      <Totals of={inTime} metrics={metrics} />
      {ofLines === undefined ? (
        <Loading />
      ) : (
        <UsageChart
          metric={metric}
          by={dimensions.find((id) => id !== 'time')}
          roll={span.roll}
          inTime={inTime}
          ofLines={ofLines}
          {...(of.lines && { lines: of.lines })}
        />
      )}
      <Panel title="Table">
        <Cut of={inTable} />
        {metric.fold === 'most' && <Slowest asked={asked} />}
        {inTable === undefined ? (
          <Loading />
        ) : (
          <UsageTable
            name="Usage"
            rows={inTable.rows}
            dimensions={dimensions}
            metrics={metrics}
            roll={span.roll}
            filters={filters}
            times={times}
            usualSort={of.usualSort ?? (dimensions[0] === 'time' ? 'time' : metric.id)}
            filtersTasksByKey={of.filtersTasksByKey}
            {...(of.thenLeast && { thenLeast: of.thenLeast })}
            {...(of.workedOut && { workedOut: of.workedOut })}
          />
        )}
      </Panel>
    </>
  );
}

function Totals({ of, metrics }: { readonly of: UsageRows; readonly metrics: readonly Metric[] }) {
  const totals = useMemo(() => totalsOf(of.rows, metrics), [of, metrics]);
  if (totals === undefined) return null;
  const [calls, failures] = [Number(totals[CALLS.id]), Number(totals[FAILURES.id])];
  const share = calls > 0 ? percent(failures, calls) : undefined;
  const figures = metrics
    .filter(({ fold }) => fold !== 'most')
    .map((metric): readonly [string, ComponentChildren, ComponentChildren?] => [
      metric.name,
      shownValue(metric, totals[metric.id]),
      metric === FAILURES ? share : unknownOf(metric, totals[metric.id]),
    ]);
  return (
    <section class="fine" aria-label="Sums of the whole time">
      <Figures of={figures} />
    </section>
  );
}

/** Why a sum is not there. */
const unknownOf = ({ fold }: Metric, value: Value | undefined): string | undefined => {
  if (value !== null) return undefined;
  return fold === 'whole' ? 'The cost of a call is unknown' : 'Not known';
};

function Cut({ of }: { readonly of: UsageRows | undefined }) {
  if (!of?.isCut) return null;
  return (
    <p class="notice wait">
      Only the first {count(of.rows.length)} rows of the answer are in this table. Choose a shorter
      time, a filter or longer points; the CSV has all rows.
    </p>
  );
}

/** Why latencies of a table may be those of a part of the time. */
function Slowest({ asked: { span, dimensions } }: { readonly asked: UsageAsked }) {
  if (span.roll !== 'hour' && !(span.roll === 'month' && dimensions.includes('time'))) return null;
  return (
    <p class="soft">
      Latencies cannot be added: each is that of the slowest {span.roll === 'hour' ? 'hour' : 'day'}
      .
    </p>
  );
}

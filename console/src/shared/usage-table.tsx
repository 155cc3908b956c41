import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { count } from './money.js';
import { type Column, Table } from './table.js';
import {
  DimensionCell,
  dimensionKey,
  dimensionName,
  type DimensionId,
  rowsBehind,
} from './usage-dimensions.js';
import { endOfPoint, type Roll, timeOfRow } from './usage-span.js';
import {
  compareFalling,
  compareValues,
  type Group,
  groupsOf,
  type Metric,
  shownValue,
} from './usage-values.js';
import type { UsageRow } from './usage-values.js';

const ROWS_AT_ONCE = 100;

/** A column that is worked out from others. */
export interface WorkedOut {
  readonly head: string;
  readonly cell: (group: Group) => ComponentChildren;
}

interface UsageTableProps {
  readonly name: string;
  readonly rows: readonly UsageRow[];
  readonly dimensions: readonly DimensionId[];
  readonly metrics: readonly Metric[];
  readonly roll: Roll;
  /** What the list of calls is filtered by too. */
  readonly filters: Readonly<Record<string, string>>;
  /** Epoch seconds; `to` is exclusive. */
  readonly times: { readonly from: number; readonly to: number };
  /** The id of the metric by which rows stand where the address has no order, the most first. */
  readonly usualSort: string;
  /** Where that is equal: the least of this first. */
  readonly thenLeast?: Metric;
  readonly workedOut?: readonly WorkedOut[];
  /** The customer's list of tasks has no filter by key. */
  readonly filtersTasksByKey: boolean;
}

/** The rows of usage in groups, in an order that the heads change and the address keeps. */
export function UsageTable(props: UsageTableProps) {
  const { rows, dimensions, metrics, roll, thenLeast } = props;
  const [most, setMost] = useState(ROWS_AT_ONCE);
  const [sort, isRising, sortBy] = useSort(props.usualSort);
  const groups = useMemo(
    () =>
      groupsOf(
        rows,
        (row) => dimensions.map((id) => dimensionKey(id, row, roll)).join('\u0000'),
        thenLeast ? [...metrics, thenLeast] : metrics,
      ),
    [rows, dimensions, metrics, roll, thenLeast],
  );
  const sorted = useMemo(() => {
    const base = thenLeast
      ? groups.toSorted((a, b) => compareValues(a.values[thenLeast.id], b.values[thenLeast.id]))
      : groups;
    const dimension = dimensions.find((id) => id === sort);
    if (dimension === undefined) {
      const compare = isRising ? compareValues : compareFalling;
      return base.toSorted((a, b) => compare(a.values[sort], b.values[sort]));
    }
    const keyOf = ({ row }: Group) => dimensionKey(dimension, row, roll);
    const sign = isRising ? 1 : -1;
    return base.toSorted((a, b) => sign * compareText(keyOf(a), keyOf(b)));
  }, [groups, sort, isRising, dimensions, roll, thenLeast]);
  const sorting = (id: string, isText: boolean) => ({
    ...(sort === id && { now: isRising ? ('ascending' as const) : ('descending' as const) }),
    change: () => sortBy(id, sort === id ? !isRising : isText),
  });
  return (
    <>
      <Table name={props.name} columns={columnsOf(props, sorting)} rows={sorted.slice(0, most)} />
      {sorted.length > most && (
        <div class="row">
          <button type="button" onClick={() => setMost(most + ROWS_AT_ONCE)}>
            Show more
          </button>
          <span class="soft">
            {count(most)} of {count(sorted.length)} rows
          </span>
        </div>
      )}
    </>
  );
}

const compareText = (one: string, other: string): number =>
  one < other ? -1 : Number(one > other);

type SortingOf = (id: string, isText: boolean) => NonNullable<Column<Group>['sort']>;

function columnsOf(props: UsageTableProps, sorting: SortingOf): readonly Column<Group>[] {
  const { dimensions, metrics, roll, workedOut = [] } = props;
  return [
    ...dimensions.map((id): Column<Group> => ({
      head: dimensionName(id, roll),
      sort: sorting(id, id !== 'time'),
      cell: ({ row }) => <DimensionCell id={id} row={row} roll={roll} />,
    })),
    ...metrics.map((metric): Column<Group> => ({
      head: metric.name,
      isNumber: true,
      sort: sorting(metric.id, false),
      cell: (group) => <ValueCell of={props} group={group} metric={metric} />,
    })),
    ...workedOut.map((column): Column<Group> => ({ ...column, isNumber: true })),
  ];
}

function ValueCell(props: {
  readonly of: UsageTableProps;
  readonly group: Group;
  readonly metric: Metric;
}) {
  const { of, group, metric } = props;
  const value = group.values[metric.id];
  const shown = shownValue(metric, value);
  const to = value === 0 || value === null ? undefined : callsOf(of, group, metric);
  if (to !== undefined) return <Link href={to}>{shown}</Link>;
  const isNegative = typeof value === 'bigint' && value < 0n;
  return <span class={isNegative ? 'number negative' : 'number'}>{shown}</span>;
}

/** Where the calls are that a count is of. */
function callsOf(of: UsageTableProps, { row }: Group, { id }: Metric): string | undefined {
  if (id !== 'calls' && id !== 'failures') return undefined;
  const { dimensions, filters, roll } = of;
  const isByKey = dimensions.includes('key') || filters.api_key_id !== undefined;
  if (row.unit === 'task' && isByKey && !of.filtersTasksByKey) return undefined;
  const time = dimensions.includes('time') ? timeOfRow(row, roll) : undefined;
  const times = time === undefined ? of.times : { from: time, to: endOfPoint(time, roll) };
  return rowsBehind(row, dimensions, filters, times, id === 'failures' ? { status: 'failed' } : {});
}

/** The order that the address has: the id of a column, and `order=rising` where the least is first. */
function useSort(usual: string) {
  const [params, setParams] = useSearchParams();
  const sort = params.get('sort') ?? usual;
  const isRising = params.get('order') === 'rising';
  const sortBy = (id: string, rising: boolean) => {
    const next = new URLSearchParams(params);
    next.set('sort', id);
    if (rising) next.set('order', 'rising');
    else next.delete('order');
    setParams(next, { replace: true });
  };
  return [sort, isRising, sortBy] as const;
}

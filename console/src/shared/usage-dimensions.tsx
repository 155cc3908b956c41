import type { ComponentChildren } from 'preact';
import { Id } from './parts.js';
import { When } from './time.js';
import { pointInWords, type Roll, timeOfRow } from './usage-span.js';
import type { UsageRow } from './usage-values.js';

/** Something by which usage is grouped: `time` is the hour, day or month. */
export type DimensionId =
  'time' | 'model' | 'key' | 'endpoint' | 'run' | 'account' | 'provider' | 'upstream_model';

interface Dimension {
  readonly name: string;
  readonly of: (row: UsageRow) => string | null | undefined;
  /** What rows without a value are called. */
  readonly none: string;
  /** The value in words, for a chart; absent: as it is. */
  readonly words?: (row: UsageRow) => string;
  /** The value in a table; absent: as in words. */
  readonly cell?: (row: UsageRow) => ComponentChildren;
  /** The parameter that lists of calls and usage filter it by. */
  readonly filter?: 'model' | 'api_key_id' | 'account_id';
}

type Named = Exclude<DimensionId, 'time'>;
const NAMED: Readonly<Record<Named, Dimension>> = {
  model: { name: 'Model', of: ({ model }) => model, none: 'no model', filter: 'model' },
  key: {
    ...{ name: 'Key', none: 'no key', filter: 'api_key_id' },
    of: ({ api_key_id: id }) => id,
    cell: ({ api_key_id: id }) => <Id id={id ?? null} isShort />,
  },
  endpoint: { name: 'Operation', of: ({ endpoint }) => endpoint, none: 'no operation' },
  run: { name: 'Run', of: ({ run }) => run, none: 'no run' },
  account: {
    ...{ name: 'Account', none: 'no account', filter: 'account_id' },
    of: ({ account_id: id }) => id,
    words: ({ account_name: name, account_id: id }) => name ?? id ?? 'no account',
    cell: ({ account_name: name, account_id: id }) => (
      <>
        {name} <Id id={id ?? null} to={`/accounts/${id}`} isShort />
      </>
    ),
  },
  provider: { name: 'Provider', of: ({ provider }) => provider, none: 'no provider' },
  upstream_model: {
    ...{ name: "Provider's model", none: 'none' },
    of: ({ upstream_model: model }) => model,
  },
};

const TIME_NAMES = { hour: 'Hour', day: 'Day (UTC)', month: 'Month (UTC)' } as const;

/** The name of a dimension, as the head of its column. */
export const dimensionName = (id: DimensionId, roll?: Roll): string => {
  if (id !== 'time') return NAMED[id].name;
  return roll === undefined ? 'Time' : TIME_NAMES[roll];
};

/** Which rows are of one thing: text that is equal for them, and that gives their order. */
export const dimensionKey = (id: DimensionId, row: UsageRow, roll: Roll): string =>
  id === 'time' ? String(timeOfRow(row, roll)).padStart(12, '0') : (NAMED[id].of(row) ?? '');

/** The value of a row in words, for the legend of a chart. */
export function dimensionWords(id: DimensionId, row: UsageRow, roll: Roll): string {
  if (id === 'time') return dimensionKey(id, row, roll);
  const { of, words, none } = NAMED[id];
  return words?.(row) ?? of(row) ?? none;
}

/** The value of a row in a table. */
export function DimensionCell(props: {
  readonly id: DimensionId;
  readonly row: UsageRow;
  readonly roll: Roll;
}) {
  const { id, row, roll } = props;
  if (id === 'time') return <PointOfTime at={timeOfRow(row, roll)} roll={roll} />;
  const { of, cell, none } = NAMED[id];
  const value = of(row);
  if (value === null || value === undefined) return <span class="soft">{none}</span>;
  return <span class="wraps">{cell?.(row) ?? value}</span>;
}

/** An hour in the zone of the reader, or a day or month of UTC. */
export function PointOfTime({ at, roll }: { readonly at: number; readonly roll: Roll }) {
  return roll === 'hour' ? <When at={at} /> : <span class="when">{pointInWords(at, roll)}</span>;
}

/** Where the calls of a row are listed, of the times from `from` until before `to`. Undefined: no list has just them. */
export function rowsBehind(
  row: UsageRow,
  dimensions: readonly DimensionId[],
  filters: Readonly<Record<string, string>>,
  times: { readonly from: number; readonly to: number },
  more: Readonly<Record<string, string>> = {},
): string | undefined {
  const found = dimensions
    .filter((id): id is Named => id !== 'time')
    .map((id) => [NAMED[id].filter, NAMED[id].of(row)] as const);
  if (found.some(([filter, value]) => filter === undefined || !value)) return undefined;
  const params = new URLSearchParams({ ...filters, ...more });
  for (const [filter, value] of found) params.set(String(filter), String(value));
  params.set('created_after', String(times.from));
  params.set('created_before', String(times.to));
  return `/${row.unit === 'task' ? 'tasks' : 'calls'}?${params}`;
}

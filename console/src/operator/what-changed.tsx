import { usd } from '../shared/money.js';
import { type Column, Table } from '../shared/table.js';
import { When } from '../shared/time.js';

type Values = Readonly<Record<string, unknown>> | null;

interface Field {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

const DIGITS = /^-?\d{1,19}$/;
const TIME = /(_at|^valid_from)$/;

/** A value as the API shows it; money in dollars, times in the zone of the reader. */
function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (value === undefined || value === null) return <span class="soft">–</span>;
  if (name.endsWith('_microusd') && typeof value === 'string' && DIGITS.test(value)) {
    return <span class="number">{usd(value)}</span>;
  }
  if (TIME.test(name) && typeof value === 'number') return <When at={value} />;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return <span class="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</span>;
}

const COLUMNS: readonly Column<Field>[] = [
  { head: 'Field', cell: ({ name }) => name.replace(/_microusd$/, '').replaceAll('_', ' ') },
  { head: 'Before', cell: ({ name, before }) => <Value name={name} value={before} /> },
  { head: 'After', cell: ({ name, after }) => <Value name={name} value={after} /> },
];

/** The fields that an act changed, below a line that unfolds. */
export function WhatChanged({
  before,
  after,
}: {
  readonly before: Values;
  readonly after: Values;
}) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return <span class="soft">–</span>;
  const rows = names.map((name) => ({ name, before: before?.[name], after: after?.[name] }));
  return (
    <details class="within">
      <summary>{names.length === 1 ? '1 field' : `${names.length} fields`}</summary>
      <Table name="What changed" columns={COLUMNS} rows={rows} />
    </details>
  );
}

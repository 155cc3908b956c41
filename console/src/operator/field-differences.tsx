import type { Shape } from '../shared/api.js';
import { exactUsd } from '../shared/money.js';
import { Id } from '../shared/parts.js';
import { type Column, Table } from '../shared/table.js';
import { pageOfModel } from './pages.js';

type Difference = Shape<'FieldDifferenceView'>;
type OfModel = Shape<'ModelDifferenceView'>;

const DIGITS = /^\d{1,18}$/;

/** A value of a field; amounts are in dollars. */
function Value({ field, value }: { readonly field: string; readonly value: string | null }) {
  if (value === null) return <span class="soft">not there</span>;
  if (field.includes('micro_usd') && DIGITS.test(value)) {
    return <span class="number">{exactUsd(value)}</span>;
  }
  if (field === 'enabled') return value === 'true' ? 'sold' : 'not sold';
  return <span class="mono">{value}</span>;
}

const FIELD: Column<Difference> = {
  head: 'Field',
  cell: ({ field }) => <span class="mono">{field}</span>,
};

const valueColumns = (before: string, after: string): readonly Column<Difference>[] => [
  FIELD,
  { head: before, cell: ({ field, before: value }) => <Value field={field} value={value} /> },
  { head: after, cell: ({ field, after: value }) => <Value field={field} value={value} /> },
];

const OF_ONE = valueColumns('Built in', 'By the file');
const OF_ALL: readonly Column<OfModel>[] = [
  { head: 'Model', cell: ({ model }) => <Id id={model} to={pageOfModel(model)} /> },
  ...valueColumns('Now', 'With this file'),
];

/** What a file changed in a model. */
export function DifferencesOfModel({ of }: { readonly of: readonly Difference[] }) {
  return <Table name="What the file changed" columns={OF_ONE} rows={of} />;
}

/** What a file would change. */
export function DifferencesOfFile({ of }: { readonly of: readonly OfModel[] }) {
  return <Table name="What would change" columns={OF_ALL} rows={of} />;
}

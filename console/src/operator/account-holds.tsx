import { api, type Shape } from '../shared/api.js';
import { Badge, Id, Money, Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { type Column, PagedTable } from '../shared/table.js';
import { age } from '../shared/time.js';

type Hold = Shape<'HoldView'>;
const READ_EVERY_MS = 3_000;

const pathOf = ({ holder, id }: Hold): string => `/${holder === 'task' ? 'tasks' : 'calls'}/${id}`;

const COLUMNS: readonly Column<Hold>[] = [
  {
    head: 'Held',
    isNumber: true,
    cell: ({ amount_microusd: amount }) => <Money microUsd={amount} />,
  },
  { head: 'For', isNumber: true, cell: ({ age_seconds: seconds }) => age(seconds) },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Model', cell: ({ model }) => <span class="whole">{model}</span> },
  { head: 'By', cell: (hold) => <Id id={hold.id} to={pathOf(hold)} isShort /> },
];

/** What holds money of an account now, the oldest first. */
export function AccountHolds({ accountId }: { readonly accountId: string }) {
  const pages = usePages(
    ['holds', accountId],
    (cursor) =>
      api.GET('/admin/holds', {
        params: { query: { account_id: accountId, ...(cursor !== undefined && { cursor }) } },
      }),
    READ_EVERY_MS,
  );
  return (
    <Panel title="Holds in flight">
      <PagedTable
        name="Holds in flight"
        columns={COLUMNS}
        pages={pages}
        empty="Nothing is held: no call or task of this account is under way."
      />
    </Panel>
  );
}

import { useMemo } from 'preact/hooks';
import { api, type Shape } from '../shared/api.js';
import { Chart } from '../shared/chart.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { axisUsd, chartUsd } from '../shared/money.js';
import { Id, Money, Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';
import { pageOf } from './pages.js';

type Entry = Shape<'LedgerEntryView'>;
const ENTRIES_OF_THE_LINE = 100;

const FILTERS: readonly Filter[] = [
  {
    name: 'kind',
    label: 'Kind',
    choices: [
      ['', 'All'],
      ['credit', 'Credits'],
      ['charge', 'Charges'],
      ['correction', 'Corrections and refunds'],
      ['expiry', 'Expired credits'],
    ],
  },
  { name: 'model', label: 'Model', placeholder: 'Any model' },
];

function Reference({ reference }: { readonly reference: string | null }) {
  const page = reference === null ? undefined : pageOf(reference);
  return page === undefined ? <Id id={reference} /> : <Id isShort id={reference} to={page} />;
}

const WHEN: Column<Entry> = { head: 'When', cell: ({ created_at: at }) => <When at={at} /> };
const BALANCE: Column<Entry> = {
  head: 'Balance after',
  isNumber: true,
  cell: ({ balance_after_microusd: amount }) => <Money microUsd={amount} />,
};
const COLUMNS: readonly Column<Entry>[] = [
  WHEN,
  {
    head: 'Amount',
    isNumber: true,
    cell: ({ amount_microusd: amount }) => <Money microUsd={amount} />,
  },
  { head: 'Kind', cell: ({ kind, correction_kind: correction }) => correction ?? kind },
  BALANCE,
  { head: 'For', cell: ({ reference }) => <Reference reference={reference} /> },
  { head: 'Reason', cell: ({ reason }) => reason?.replaceAll('_', ' ') ?? '–' },
  { head: 'Note', cell: ({ note }) => note ?? '–' },
];

/** The balance as a line, and the ledger below it. */
export function AccountLedger({ accountId }: { readonly accountId: string }) {
  const filters = useFilters(FILTERS);
  const read = (limit: number, set: Readonly<Record<string, string>>) => (cursor?: string) =>
    api.GET('/admin/accounts/{id}/ledger', {
      params: {
        path: { id: accountId },
        query: { limit, ...set, ...(cursor !== undefined && { cursor }) },
      },
    });
  const line = usePages(['ledger', accountId, 'line'], read(ENTRIES_OF_THE_LINE, {}));
  const pages = usePages(['ledger', accountId, filters], read(20, filters));
  const drawn = useMemo(
    () => (line.rows ?? []).slice(0, ENTRIES_OF_THE_LINE).toReversed(),
    [line.rows],
  );
  const chart = useMemo(
    () => ({
      times: drawn.map(({ created_at: at }) => at),
      series: [
        {
          name: 'Balance',
          values: drawn.map(({ balance_after_microusd: amount }) => chartUsd(amount)),
        },
      ],
    }),
    [drawn],
  );
  return (
    <Panel title="Ledger">
      {drawn.length > 1 && (
        <Chart
          name="Balance after each of the last entries"
          {...chart}
          format={axisUsd}
          isStepped
          columns={[WHEN, BALANCE]}
          rows={drawn}
        />
      )}
      <Filters of={FILTERS} name="Filters of the ledger" />
      <PagedTable
        name="Ledger entries"
        columns={COLUMNS}
        pages={pages}
        empty="No entries. The first one is a credit:"
        command={`npm run cli -- credit ${accountId} 25.00`}
      />
    </Panel>
  );
}

import { api } from '../shared/api.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { recordQuery } from '../shared/record-filters.js';
import { PagedTable } from '../shared/table.js';
import { AMOUNT, BALANCE, FOR, KIND, PAYMENT, REASON, WHEN } from './ledger-columns.js';
import { answerUrl, StatementTabs } from './statement-parts.js';

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
  {
    name: 'correction_kind',
    label: 'Of corrections',
    choices: [
      ['', 'All'],
      ['refund', 'Refunds'],
      ['reversal', 'Reversals'],
      ['adjustment', 'Adjustments'],
    ],
  },
  {
    name: 'reason',
    label: 'Reason',
    choices: [
      ['', 'Any'],
      ['goodwill', 'Goodwill'],
      ['fault', 'Fault'],
      ['billing_error', 'Billing error'],
    ],
  },
  { name: 'model', label: 'Model', placeholder: 'Any model' },
  { name: 'api_key_id', label: 'Key', placeholder: 'key_…' },
  { name: 'created_after', label: 'From', isTime: true },
  { name: 'created_before', label: 'Before', isTime: true },
];
// On a narrow page only the first columns are seen without scrolling.
const COLUMNS = [WHEN, AMOUNT, KIND, BALANCE, FOR, REASON, PAYMENT];

/** Every movement of the money of the account. */
export default function Ledger() {
  const filters = useFilters(FILTERS);
  const pages = usePages(['ledger', filters], (cursor) =>
    api.GET('/v1/ledger', { params: { query: recordQuery(filters, cursor) } }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  const csv = answerUrl('/v1/ledger', { ...recordQuery(filters, undefined), format: 'csv' });
  return (
    <>
      <ScreenHead
        title="Statements"
        answers="Where did each dollar come from, and where did it go?"
      >
        <a class="button" href={csv} download>
          Save as CSV
        </a>
      </ScreenHead>
      <StatementTabs open="/ledger" />
      <Panel title="Entries">
        <Filters of={FILTERS} name="Filters of entries" />
        <PagedTable
          name="Entries"
          columns={COLUMNS}
          pages={pages}
          empty={
            isFiltered
              ? 'No entry has these properties.'
              : 'No entries yet. The first one is a credit, which the operator gives.'
          }
        />
      </Panel>
    </>
  );
}

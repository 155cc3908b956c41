import { api, type Shape } from '../shared/api.js';
import { FIRST_CALL } from '../shared/first-call.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Badge, Id, Money, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { type Column, PagedTable } from '../shared/table.js';
import { duration, When } from '../shared/time.js';
import { RecordTabs } from '../shared/tabs.js';
import { OPERATOR_RECORD_FILTERS, recordQuery } from '../shared/record-filters.js';

type Execution = Shape<'AdminExecutionView'>;

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    choices: [
      ['', 'Any'],
      ['running', 'Running'],
      ['succeeded', 'Succeeded'],
      ['failed', 'Failed'],
    ],
  },
  ...OPERATOR_RECORD_FILTERS,
  {
    name: 'broken',
    label: 'Streams',
    choices: [
      ['', 'All'],
      ['true', 'Broken, and free'],
      ['false', 'Whole'],
    ],
  },
];

const COLUMNS: readonly Column<Execution>[] = [
  { head: 'Began', cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: 'Charged',
    isNumber: true,
    cell: ({ charged_microusd: charged }) => <Money microUsd={charged} />,
  },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Call', cell: ({ id }) => <Id id={id} to={`/calls/${id}`} isShort /> },
  { head: 'Model', cell: ({ model }) => <span class="whole">{model}</span> },
  {
    head: 'Cost',
    isNumber: true,
    cell: ({ cost_microusd: cost }) => <Money microUsd={cost} />,
  },
  { head: 'Took', isNumber: true, cell: ({ duration_ms: ms }) => duration(ms) },
  { head: 'Provider', cell: ({ provider }) => provider ?? '–' },
  { head: 'Error', cell: ({ error_code: code }) => code ?? '–' },
  { head: 'Account', cell: ({ account_id: id }) => <Id id={id} to={`/accounts/${id}`} isShort /> },
];

/** The synchronous calls of all accounts. */
export default function Calls() {
  const filters = useFilters(FILTERS);
  const pages = usePages(['calls', filters], (cursor) =>
    api.GET('/admin/executions', {
      params: { query: recordQuery(filters, cursor) },
    }),
  );
  return (
    <>
      <ScreenHead
        title="Calls and tasks"
        answers="Why did this call cost, fail or hang? The newest are first."
      />
      <RecordTabs open="/calls" />
      <Panel title="Calls">
        <Filters of={FILTERS} name="Filters of calls" />
        <PagedTable
          name="Calls"
          columns={COLUMNS}
          pages={pages}
          empty={
            Object.keys(filters).length > 0
              ? 'No call has these properties.'
              : 'Nobody has called yet. The first call, with a key of an account:'
          }
          command={Object.keys(filters).length > 0 ? undefined : FIRST_CALL}
        />
      </Panel>
    </>
  );
}

import { api } from '../shared/api.js';
import { FIRST_CALL } from '../shared/first-call.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { RecordTabs } from '../shared/tabs.js';
import { PagedTable } from '../shared/table.js';
import { CALL_COLUMNS } from './call-columns.js';
import { RECORD_FILTERS, recordQuery } from '../shared/record-filters.js';

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
  { name: 'api_key_id', label: 'Key', placeholder: 'key_…' },
  ...RECORD_FILTERS,
];

/** The synchronous calls of the account. */
export default function Calls() {
  const filters = useFilters(FILTERS);
  const pages = usePages(['calls', filters], (cursor) =>
    api.GET('/v1/executions', { params: { query: recordQuery(filters, cursor) } }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <ScreenHead
        title="Calls and tasks"
        answers="What became of each call, and what did it cost? The newest are first."
      />
      <RecordTabs open="/calls" />
      <Panel title="Calls">
        <Filters of={FILTERS} name="Filters of calls" />
        <PagedTable
          name="Calls"
          columns={CALL_COLUMNS}
          pages={pages}
          empty={
            isFiltered
              ? 'No call has these properties.'
              : 'No call yet. The first one, with an API key:'
          }
          command={isFiltered ? undefined : FIRST_CALL}
        />
      </Panel>
    </>
  );
}

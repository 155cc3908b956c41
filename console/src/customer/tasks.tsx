import { api } from '../shared/api.js';
import { GATEWAY_URL } from '../shared/first-call.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Badge, Id, Money, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { RECORD_FILTERS, recordQuery } from '../shared/record-filters.js';
import { RecordTabs } from '../shared/tabs.js';
import { type Column, PagedTable } from '../shared/table.js';
import { chargedOf, createdOf, type OwnTask, TASK_FILTERS } from '../shared/task-parts.js';
import { When } from '../shared/time.js';

const FILTERS: readonly Filter[] = [...TASK_FILTERS, ...RECORD_FILTERS];

const COLUMNS: readonly Column<OwnTask>[] = [
  { head: 'Submitted', cell: (task) => <When at={createdOf(task)} /> },
  { head: 'Charged', isNumber: true, cell: (task) => <Money microUsd={chargedOf(task)} /> },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Task', cell: ({ id }) => <Id id={id} to={`/tasks/${id}`} isShort /> },
  { head: 'Model', cell: ({ model }) => <span class="whole">{model}</span> },
  {
    head: 'Done',
    isNumber: true,
    cell: ({ progress }) => (progress === null ? '–' : `${progress} %`),
  },
  { head: 'Error', cell: ({ error }) => error?.code ?? '–' },
];

const FIRST_TASK = `curl -X POST ${GATEWAY_URL}/v1/music/generations -H "Authorization: Bearer $SHIM_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"model":"song-music","prompt":"A song about rain"}'`;

/** The tasks of the account. */
export default function Tasks() {
  const filters = useFilters(FILTERS);
  const pages = usePages(['tasks', filters], (cursor) =>
    api.GET('/v1/tasks', { params: { query: recordQuery(filters, cursor) } }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <ScreenHead
        title="Calls and tasks"
        answers="What became of each task, and what did it cost? The newest are first."
      />
      <RecordTabs open="/tasks" />
      <Panel title="Tasks">
        <Filters of={FILTERS} name="Filters of tasks" />
        <PagedTable
          name="Tasks"
          columns={COLUMNS}
          pages={pages}
          empty={
            isFiltered
              ? 'No task has these properties.'
              : 'No task yet. The first one, with an API key:'
          }
          command={isFiltered ? undefined : FIRST_TASK}
        />
      </Panel>
    </>
  );
}

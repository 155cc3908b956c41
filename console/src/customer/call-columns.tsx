import type { Shape } from '../shared/api.js';
import { Badge, Id, Money } from '../shared/parts.js';
import type { Column } from '../shared/table.js';
import { duration, When } from '../shared/time.js';

/** What is shown of a call in a list. */
export const CALL_COLUMNS: readonly Column<Shape<'ExecutionView'>>[] = [
  { head: 'Began', cell: ({ created_at: at }) => <When at={at} /> },
  {
    head: 'Charged',
    isNumber: true,
    cell: ({ charged_microusd: charged }) => <Money microUsd={charged} />,
  },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Call', cell: ({ id }) => <Id id={id} to={`/calls/${id}`} isShort /> },
  { head: 'Model', cell: ({ model }) => <span class="whole">{model}</span> },
  { head: 'Took', isNumber: true, cell: ({ duration_ms: ms }) => duration(ms) },
  { head: 'Error', cell: ({ error_code: code }) => code ?? '–' },
];

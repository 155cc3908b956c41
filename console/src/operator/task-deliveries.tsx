import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { Badge, Id, Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';

type Delivery = Shape<'AdminDeliveryView'>;

const COLUMNS: readonly Column<Delivery>[] = [
  { head: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Where', cell: ({ url }) => <span class="mono">{url}</span> },
  { head: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
  {
    head: 'Last answer',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last === undefined ? '–' : (last.status_code ?? last.error ?? '–');
    },
  },
  { head: 'Next attempt', cell: ({ next_attempt_at: at }) => <When at={at} /> },
  { head: 'Delivery', cell: ({ id }) => <Id id={id} isShort /> },
  { head: 'Act', cell: (delivery) => <Resend delivery={delivery} /> },
];

function Resend({ delivery: { id, url } }: { readonly delivery: Delivery }) {
  const maySend = useMay('support');
  if (!maySend) return null;
  const run = async () => {
    await answerOf(
      api.POST('/admin/webhook-deliveries/{id}/redeliver', { params: { path: { id } } }),
    );
    return 'The next attempt is made now.';
  };
  return (
    <Act label="Send again" title="Send the webhook again" run={run}>
      <p>
        The same body goes to <span class="mono">{url}</span> once more. No money moves.
      </p>
    </Act>
  );
}

/** The webhooks that told of a task. */
export function TaskDeliveries({ taskId }: { readonly taskId: string }) {
  const pages = usePages(['deliveries', { taskId }], (cursor) =>
    api.GET('/admin/webhook-deliveries', {
      params: { query: { task_id: taskId, ...(cursor !== undefined && { cursor }) } },
    }),
  );
  return (
    <Panel title="Deliveries">
      <PagedTable
        name="Deliveries"
        columns={COLUMNS}
        pages={pages}
        empty="No webhook tells of this task: it was submitted without one, or has not ended."
      />
    </Panel>
  );
}

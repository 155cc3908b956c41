import { api, type Shape } from '../shared/api.js';
import { Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { type Column, PagedTable } from '../shared/table.js';
import { DELIVERY_COLUMNS, Resend } from './delivery-parts.js';

type Delivery = Shape<'AdminDeliveryView'>;

const COLUMNS: readonly Column<Delivery>[] = [
  ...DELIVERY_COLUMNS,
  { head: 'Act', cell: (delivery) => <Resend delivery={delivery} /> },
];

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

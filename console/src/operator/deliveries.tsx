import { api, type Shape } from '../shared/api.js';
import { GATEWAY_URL } from '../shared/first-call.js';
import { DELIVERY_STATUS } from '../shared/delivery-parts.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Id, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { type Column, PagedTable } from '../shared/table.js';
import { DELIVERY_COLUMNS, Resend, ResendFailed, WebhookTabs } from './delivery-parts.js';

type Delivery = Shape<'AdminDeliveryView'>;

const EVENTS = [
  ...['task.finished', 'task.unknown', 'balance.low', 'balance.depleted'],
  ...['limit.reached', 'key.expiring', 'test'],
] as const;
const FILTERS: readonly Filter[] = [
  DELIVERY_STATUS,
  { name: 'host', label: 'Receiver', placeholder: 'hooks.example.com' },
  { name: 'account_id', label: 'Account', placeholder: 'acct_…' },
  { name: 'task_id', label: 'Task', placeholder: 'task_…' },
  { name: 'endpoint_id', label: 'Endpoint', placeholder: 'whe_…' },
  {
    name: 'event',
    label: 'Event of an account',
    choices: [['', 'Any'], ...EVENTS.map((event) => [event, event] as const)],
  },
];
const COLUMNS: readonly Column<Delivery>[] = [
  ...DELIVERY_COLUMNS,
  { head: 'Account', cell: ({ account_id: id }) => <Id id={id} to={`/accounts/${id}`} isShort /> },
  { head: 'Act', cell: (delivery) => <Resend delivery={delivery} /> },
];
const FIRST_WEBHOOK = `curl -X POST ${GATEWAY_URL}/v1/music/generations -H "Authorization: Bearer $SHIM_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"model":"song-music","prompt":"A song about rain","webhook":"https://example.com/hooks/shim"}'`;

/** The deliveries of all accounts. */
export default function Deliveries() {
  const filters = useFilters(FILTERS);
  const pages = usePages(['deliveries', filters], (cursor) =>
    api.GET('/admin/webhook-deliveries', {
      params: { query: { ...filters, ...(cursor !== undefined && { cursor }) } },
    }),
  );
  const isFiltered = Object.keys(filters).length > 0;
  const { host, account_id: accountId } = filters;
  return (
    <>
      <ScreenHead
        title="Webhooks"
        answers="Did this receiver get it, and what did it answer? The newest are first."
      >
        <ResendFailed
          // The dialogue begins with what the filters name now.
          key={`${host ?? ''} ${accountId ?? ''}`}
          {...(host !== undefined && { host })}
          {...(accountId !== undefined && { accountId })}
        />
      </ScreenHead>
      <WebhookTabs open="/deliveries" />
      <Panel title="Deliveries">
        <Filters of={FILTERS} name="Filters of deliveries" />
        <PagedTable
          name="Deliveries"
          columns={COLUMNS}
          pages={pages}
          empty={
            isFiltered
              ? 'No delivery has these properties.'
              : 'No webhook was sent yet. The first one, with a key of an account:'
          }
          command={isFiltered ? undefined : FIRST_WEBHOOK}
        />
      </Panel>
    </>
  );
}

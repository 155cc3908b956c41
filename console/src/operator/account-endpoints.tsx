import { Link, useLocation } from 'wouter-preact';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { Id, Panel } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';

type Endpoint = Shape<'WebhookEndpointView'>;

const COLUMNS: readonly Column<Endpoint>[] = [
  { head: 'Where', cell: ({ url }) => <span class="mono url">{url}</span> },
  { head: 'Is told of', cell: ({ events }) => events.join(', ') },
  { head: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
  { head: 'Endpoint', cell: ({ id }) => <Id id={id} isShort /> },
  {
    head: 'Was sent',
    cell: ({ id }) => <Link href={`/deliveries?endpoint_id=${id}`}>Deliveries</Link>,
  },
];

/** Sends an endpoint an event of type test, and opens its delivery; nothing for who may not. */
export function TestEndpoint(props: {
  readonly accountId: string;
  readonly endpointId: string;
  readonly url: string;
}) {
  const maySend = useMay('support');
  const [, open] = useLocation();
  if (!maySend) return null;
  const { accountId, endpointId, url } = props;
  const run = async () => {
    const { id } = await answerOf(
      api.POST('/admin/accounts/{id}/webhook-endpoints/{endpoint_id}/test', {
        params: { path: { id: accountId, endpoint_id: endpointId } },
      }),
    );
    open(`/deliveries/${id}`);
    return 'The test is sent now.';
  };
  return (
    <Act label="Send a test" title="Send a test" run={run}>
      <p>
        An event of type test goes to <span class="mono">{url}</span>, signed as every other one. No
        money moves.
      </p>
    </Act>
  );
}

/** Where an account is told its events. */
export function AccountEndpoints({ accountId }: { readonly accountId: string }) {
  const pages = usePages(['endpoints', accountId], (cursor) =>
    api.GET('/admin/accounts/{id}/webhook-endpoints', {
      params: { path: { id: accountId }, query: { ...(cursor !== undefined && { cursor }) } },
    }),
  );
  const columns: readonly Column<Endpoint>[] = [
    ...COLUMNS,
    {
      head: 'Act',
      cell: ({ id, url }) => <TestEndpoint accountId={accountId} endpointId={id} url={url} />,
    },
  ];
  return (
    <Panel
      title="Webhook endpoints"
      aside={<Link href={`/deliveries?account_id=${accountId}`}>Deliveries of this account</Link>}
    >
      <PagedTable
        name="Webhook endpoints"
        columns={columns}
        pages={pages}
        empty="No endpoint is told of the events of this account. A key of scope manage makes one, or:"
        command={`npm run cli -- webhook-endpoint:create ${accountId} --url https://example.com/hooks/shim --secret-file secret.txt --events balance.low`}
      />
    </Panel>
  );
}

import { Link } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { count, percent } from '../shared/money.js';
import { Empty, Figures, Loading, Panel, Problem, RawJson, ScreenHead } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { recordQuery } from '../shared/record-filters.js';
import { type Column, Table } from '../shared/table.js';
import { age, duration, When } from '../shared/time.js';
import { ResendFailed, WebhookTabs } from './delivery-parts.js';

type Receiver = Shape<'WebhookReceiverView'>;
type Receivers = Shape<'WebhookReceiverPage'>;

const READ = { everyMs: 10_000 };
const FILTERS: readonly Filter[] = [
  { name: 'created_after', label: 'Written since', isTime: true },
];

const deliveriesOf = (host: string, status?: string): string =>
  `/deliveries?host=${encodeURIComponent(host)}${status === undefined ? '' : `&status=${status}`}`;

/** The share of those that ended which the receiver accepted. */
const successOf = ({ delivered, failed }: Pick<Receiver, 'delivered' | 'failed'>): string =>
  percent(delivered, delivered + failed);

function CountOf(props: {
  readonly of: Receiver;
  readonly status: 'delivered' | 'failed' | 'pending';
}) {
  const { of: receiver, status } = props;
  const value = receiver[status];
  if (value === 0) return <>0</>;
  return <Link href={deliveriesOf(receiver.host, status)}>{count(value)}</Link>;
}

const COLUMNS: readonly Column<Receiver>[] = [
  {
    head: 'Receiver',
    cell: ({ host, accounts, attempts }) => (
      <span class="pair">
        <Link class="mono" href={deliveriesOf(host)}>
          {host}
        </Link>{' '}
        <small>
          {accounts === 1 ? '1 account' : `${count(accounts)} accounts`}, {count(attempts)} attempts
        </small>
      </span>
    ),
  },
  { head: 'Accepted', isNumber: true, cell: successOf },
  { head: 'Deliveries', isNumber: true, cell: ({ deliveries }) => count(deliveries) },
  { head: 'Delivered', isNumber: true, cell: (row) => <CountOf of={row} status="delivered" /> },
  { head: 'Failed', isNumber: true, cell: (row) => <CountOf of={row} status="failed" /> },
  { head: 'Pending', isNumber: true, cell: (row) => <CountOf of={row} status="pending" /> },
  {
    head: 'Longest wait',
    isNumber: true,
    cell: ({ lag_seconds: seconds }) => (seconds === null ? '–' : age(seconds)),
  },
  {
    head: 'p50, p99',
    isNumber: true,
    cell: ({ latency_p50_ms: half, latency_p99_ms: most }) => (
      <span class="pair">
        {duration(half)} <small>{duration(most)}</small>
      </span>
    ),
  },
  { head: 'Act', cell: ({ host, failed }) => failed > 0 && <ResendFailed host={host} /> },
];

/** The receivers of webhooks: which ones fail. */
export default function Webhooks() {
  const filters = useFilters(FILTERS);
  const { data, error } = useAnswer(
    ['receivers', filters],
    () =>
      api.GET('/admin/webhook-receivers', { params: { query: recordQuery(filters, undefined) } }),
    READ,
  );
  return (
    <>
      <ScreenHead
        title="Webhooks"
        answers="Which receivers fail? Those where most failed are first."
      >
        <ResendFailed />
      </ScreenHead>
      <WebhookTabs open="/webhooks" />
      {data !== undefined && data.data.length > 0 && <Sums of={data} />}
      <Panel title="Receivers">
        <Filters of={FILTERS} name="Filters of receivers" />
        {data === undefined && (error === null ? <Loading /> : <Problem error={error} />)}
        {data !== undefined && <List of={data} />}
      </Panel>
      {data !== undefined && <RawJson value={data} />}
    </>
  );
}

function List({ of }: { readonly of: Receivers }) {
  if (of.data.length === 0) {
    return (
      <Empty command="npm run cli -- deliveries --limit 20">
        No webhook was written in this time. Tasks with a webhook, and endpoints of accounts, have
        them; a test of an endpoint is sent from the page of its account. All there are:
      </Empty>
    );
  }
  return (
    <>
      <p class="soft">
        {of.complete ? 'Of all deliveries' : 'Of the newest 20,000 deliveries, the oldest of them'}{' '}
        written since <When at={of.since} />
      </p>
      <Table name="Receivers" columns={COLUMNS} rows={of.data} keyOf={({ host }) => host} />
    </>
  );
}

function Sums({ of: { data } }: { readonly of: Receivers }) {
  const sum = (field: 'deliveries' | 'delivered' | 'failed' | 'pending') =>
    data.reduce((total, receiver) => total + receiver[field], 0);
  const failed = sum('failed');
  const waits = data.flatMap(({ lag_seconds: seconds }) => (seconds === null ? [] : [seconds]));
  return (
    <Figures
      of={[
        [
          'Deliveries',
          count(sum('deliveries')),
          `to ${count(data.length)} ${data.length === 1 ? 'receiver' : 'receivers'}`,
        ],
        ['Accepted', successOf({ delivered: sum('delivered'), failed }), 'of those that ended'],
        ['Failed', <Link href="/deliveries?status=failed">{count(failed)}</Link>],
        [
          'Pending',
          <Link href="/deliveries?status=pending">{count(sum('pending'))}</Link>,
          waits.length === 0 ? 'None is due' : `The longest is due for ${age(Math.max(...waits))}`,
        ],
      ]}
    />
  );
}

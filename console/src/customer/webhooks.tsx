import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { GATEWAY_URL } from '../shared/first-call.js';
import { answerOfAttempt, DELIVERY_STATUS } from '../shared/delivery-parts.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Badge, Copy, Id, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { recordQuery } from '../shared/record-filters.js';
import { useMayManage } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { duration, When } from '../shared/time.js';
import { RECEIVERS } from './receivers.js';
import { EndpointActs, EVENTS, type MadeSecret, NewEndpoint } from './webhook-acts.js';

type Endpoint = Shape<'WebhookEndpointView'>;
type Delivery = Shape<'DeliveryView'>;
type Attempt = Shape<'AttemptView'>;
const READ_EVERY_MS = 5_000;

/** Where the account is told its events, and whether its receivers got them. */
export default function Webhooks() {
  const mayManage = useMayManage();
  const [made, setMade] = useState<MadeSecret>();
  const head = 'Did my receiver get what it was told?';
  if (!mayManage) {
    return (
      <>
        <ScreenHead title="Webhooks" answers={head} />
        <p class="notice">To see or change webhooks, sign in with a key of scope manage.</p>
        <Receivers />
      </>
    );
  }
  return (
    <>
      <ScreenHead title="Webhooks" answers={head}>
        <NewEndpoint onMade={setMade} />
      </ScreenHead>
      {made !== undefined && (
        <div class="notice good" role="status">
          <p>The secret of {made.url}. It is shown only here, and only now:</p>
          <p>
            <span class="mono">{made.secret}</span> <Copy text={made.secret} what="the secret" />
          </p>
        </div>
      )}
      <Endpoints onMade={setMade} />
      <Deliveries />
      <Receivers />
    </>
  );
}

function Endpoints({ onMade }: { readonly onMade: (made: MadeSecret) => void }) {
  const pages = usePages(['webhook-endpoints'], (cursor) =>
    api.GET('/v1/webhook-endpoints', { params: { query: recordQuery({}, cursor) } }),
  );
  const columns: readonly Column<Endpoint>[] = [
    {
      head: 'Where',
      cell: ({ url, id }) => (
        <>
          <span class="breaks mono">{url}</span>
          <br />
          <Link class="small" href={`/webhooks?endpoint_id=${id}`}>
            Its deliveries
          </Link>
        </>
      ),
    },
    { head: 'Told', cell: ({ events }) => events.join(', ') },
    { head: 'Made', cell: ({ created_at: at }) => <When at={at} /> },
    { head: 'Acts', cell: (endpoint) => <EndpointActs of={endpoint} onMade={onMade} /> },
  ];
  return (
    <Panel title="Endpoints">
      <PagedTable
        name="Endpoints"
        columns={columns}
        pages={pages}
        empty="No endpoint is told the events of this account. Make one with New endpoint, or with an API key:"
        command={FIRST_ENDPOINT}
      />
    </Panel>
  );
}

const FIRST_ENDPOINT = `curl ${GATEWAY_URL}/v1/webhook-endpoints -H "Authorization: Bearer $SHIM_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"url":"https://example.com/hooks/shim","secret":"a-secret-of-your-own","events":["balance.low"]}'`;

const FILTERS: readonly Filter[] = [
  DELIVERY_STATUS,
  {
    name: 'event',
    label: 'Event',
    choices: [['', 'Any'], ...EVENTS.map(([type]) => [type, type] as const), ['test', 'test']],
  },
  { name: 'endpoint_id', label: 'Endpoint', placeholder: 'whe_…' },
];

const COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Delivery',
    cell: ({ id, created_at: at }) => (
      <span class="pair">
        <When at={at} />
        <small>
          <Id id={id} isShort />
        </small>
      </span>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  {
    head: 'Tells of',
    cell: ({ event, task_id: task }) =>
      task === null ? (event ?? '–') : <Id id={task} to={`/tasks/${task}`} isShort />,
  },
  { head: 'Where', cell: ({ url }) => <span class="breaks mono">{url}</span> },
  { head: 'Attempts', cell: ({ attempts }) => <Attempts of={attempts} /> },
  { head: 'Next attempt', cell: ({ next_attempt_at: at }) => <When at={at} /> },
  { head: 'Act', cell: (delivery) => <Resend delivery={delivery} /> },
];

/** The last answer, and all attempts that are kept behind it. */
function Attempts({ of: attempts }: { readonly of: readonly Attempt[] }) {
  const last = attempts.at(-1);
  if (last === undefined) return <span class="soft">none yet</span>;
  return (
    <details>
      <summary class="whole">
        {attempts.length}, the last: {answerOfAttempt(last)}
      </summary>
      <ol class="attempts">
        {attempts.map((attempt) => (
          <li>
            <When at={attempt.at} /> {answerOfAttempt(attempt)} after{' '}
            {duration(attempt.duration_ms)}
          </li>
        ))}
      </ol>
    </details>
  );
}

function Resend({ delivery: { id, url } }: { readonly delivery: Delivery }) {
  const run = async () => {
    await answerOf(api.POST('/v1/webhook-deliveries/{id}/redeliver', { params: { path: { id } } }));
    return 'The next attempt is made now.';
  };
  return (
    <Act label="Send again" title="Send the webhook again" run={run}>
      <p>
        The same body goes to <span class="mono">{url}</span> once more, with a fresh signature.
      </p>
    </Act>
  );
}

function Deliveries() {
  const filters = useFilters(FILTERS);
  const pages = usePages(
    ['webhook-deliveries', filters],
    (cursor) =>
      api.GET('/v1/webhook-deliveries', { params: { query: recordQuery(filters, cursor) } }),
    READ_EVERY_MS,
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Panel
      title="Deliveries"
      aside={isFiltered && <Link href="/webhooks">Show all deliveries</Link>}
    >
      <Filters of={FILTERS} name="Filters of deliveries" />
      <PagedTable
        name="Deliveries"
        columns={COLUMNS}
        pages={pages}
        empty={
          isFiltered
            ? 'No delivery has these properties.'
            : 'Nothing was sent yet. Send a test to an endpoint, or submit a task with a webhook.'
        }
      />
    </Panel>
  );
}

/** How a receiver checks that the gateway sent what came. */
function Receivers() {
  return (
    <Panel title="Check the signature">
      <p class="soft">
        Each event, and each webhook with a secret, has the header{' '}
        <span class="mono">X-Shim-Signature</span>. A receiver that checks it:
      </p>
      {RECEIVERS.map(({ name, file, run, code }) => (
        <details>
          <summary>{name}</summary>
          <p class="small">
            Save it as <span class="mono">{file}</span> and run <span class="mono">{run}</span>{' '}
            <Copy text={code} what={`the receiver in ${name}`} />
          </p>
          <pre tabIndex={0} aria-label={`Receiver in ${name}`}>
            {code}
          </pre>
        </details>
      ))}
    </Panel>
  );
}

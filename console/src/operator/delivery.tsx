import { useParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { answerOfAttempt } from '../shared/delivery-parts.js';
import { count } from '../shared/money.js';
import { Badge, Copy, Facts, Id, type Moment, Panel } from '../shared/parts.js';
import { RawJson, ScreenHead, Timeline, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { duration, When } from '../shared/time.js';
import { TestEndpoint } from './account-endpoints.js';
import { eventOf, Resend } from './delivery-parts.js';

type Delivery = Shape<'AdminDeliveryView'>;

const UNDER_WAY_MS = 2_000;
const IS_ACCEPTED = { from: 200, below: 300 };

/** One webhook: each attempt, and what the receiver answered. */
export default function DeliveryScreen() {
  const { id } = useParams<{ id: string }>();
  const { data, error } = useAnswer(
    ['delivery', id],
    () => api.GET('/admin/webhook-deliveries/{id}', { params: { path: { id } } }),
    { everyMs: UNDER_WAY_MS, until: ({ status }) => status !== 'pending' },
  );
  if (data === undefined) return <Unshown title={id} error={error} />;
  return (
    <>
      <ScreenHead
        title={data.id}
        answers={
          <>
            Webhook that tells of {wordsOf(data)}: <Badge state={data.status} />{' '}
            <Copy text={data.id} what="the id" />
          </>
        }
      >
        <Resend delivery={data} />
        {data.endpoint_id !== null && (
          <TestEndpoint accountId={data.account_id} endpointId={data.endpoint_id} url={data.url} />
        )}
      </ScreenHead>
      <div class="columns">
        <Panel title="What happened">
          <Timeline of={momentsOf(data)} />
        </Panel>
        <Panel title="Facts">
          <DeliveryFacts of={data} />
        </Panel>
      </div>
      <RawJson value={data} />
    </>
  );
}

const wordsOf = (delivery: Delivery): string =>
  delivery.event === null ? 'the end of a task' : `the event ${delivery.event}`;

const isAccepted = (status: number | null): boolean =>
  status !== null && status >= IS_ACCEPTED.from && status < IS_ACCEPTED.below;

/** When it was written, each attempt, and what comes next. */
function momentsOf(delivery: Delivery): readonly Moment[] {
  const { attempts, status, next_attempt_at: next } = delivery;
  return [
    { title: 'Written', at: <When at={delivery.created_at} /> },
    ...attempts.map((attempt, index) => ({
      title: `Attempt ${count(index + 1)}: ${answerOfAttempt(attempt)}`,
      at: <When at={attempt.at} />,
      tone: isAccepted(attempt.status_code) ? ('good' as const) : ('bad' as const),
      detail: <p class="soft">{duration(attempt.duration_ms)} long</p>,
    })),
    ...(status === 'pending'
      ? [{ title: 'Next attempt', at: <When at={next} />, tone: 'wait' as const }]
      : []),
    ...(status === 'failed'
      ? [
          {
            title: 'Failed for good: no attempt is left',
            tone: 'bad' as const,
            detail: <p class="soft">Send it again once the receiver is mended.</p>,
          },
        ]
      : []),
  ];
}

function DeliveryFacts({ of: delivery }: { readonly of: Delivery }) {
  const { account_id: account, task_id: task, endpoint_id: endpoint, url } = delivery;
  const { host } = new URL(url);
  return (
    <Facts
      of={[
        ['Sent to', <span class="mono">{url}</span>],
        ['Receiver', <Id id={host} to={`/deliveries?host=${encodeURIComponent(host)}`} />],
        ['Tells of', eventOf(delivery)],
        ['Task', task && <Id id={task} to={`/tasks/${task}`} />],
        ['Endpoint', endpoint && <Id id={endpoint} to={`/deliveries?endpoint_id=${endpoint}`} />],
        ['Account', <Id id={account} to={`/accounts/${account}`} />],
        ['Written', <When at={delivery.created_at} />],
        ['Attempts', count(delivery.attempts.length)],
      ]}
    />
  );
}

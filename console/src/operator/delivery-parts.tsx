import { useState } from 'preact/hooks';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { answerOfAttempt } from '../shared/delivery-parts.js';
import { WordField } from '../shared/fields.js';
import { count } from '../shared/money.js';
import { Badge, Id } from '../shared/parts.js';
import { useMay } from '../shared/session.js';
import type { Column } from '../shared/table.js';
import { Tabs } from '../shared/tabs.js';
import { DAY_S, localMoment, secondsOf, When } from '../shared/time.js';

type Delivery = Shape<'AdminDeliveryView'>;

/** Most deliveries that one request sends again. */
const MOST_AT_ONCE = 10_000;

const TABS = [
  ['/webhooks', 'Receivers'],
  ['/deliveries', 'Deliveries'],
] as const;

/** Between the sums by receiver and the single deliveries. */
export const WebhookTabs = ({ open }: { readonly open: (typeof TABS)[number][0] }) => (
  <Tabs name="Views of webhooks" of={TABS} open={open} />
);

/** What a delivery tells of. */
export const eventOf = ({ event }: Delivery): string => event ?? 'end of a task';

/** What is shown of a delivery in each list. */
export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { head: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
  { head: 'Delivery', cell: ({ id }) => <Id id={id} to={`/deliveries/${id}`} isShort /> },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Tells of', cell: eventOf },
  { head: 'Where', cell: ({ url }) => <span class="mono url">{url}</span> },
  {
    head: 'Last answer',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return (
        <span class="pair">
          {last === undefined ? '–' : answerOfAttempt(last)}{' '}
          <small>
            {attempts.length === 1 ? '1 attempt' : `${count(attempts.length)} attempts`}
          </small>
        </span>
      );
    },
  },
  { head: 'Next attempt', cell: ({ next_attempt_at: at }) => <When at={at} /> },
];

/** Sends one webhook again; nothing for who may not. */
export function Resend({ delivery: { id, url } }: { readonly delivery: Delivery }) {
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

/** Sends all again that failed for good since a time; nothing for who may not. */
export function ResendFailed(props: { readonly host?: string; readonly accountId?: string }) {
  const maySend = useMay('support');
  const [host, setHost] = useState(props.host ?? '');
  const [account, setAccount] = useState(props.accountId ?? '');
  const [since, setSince] = useState(() => localMoment(Date.now() / 1_000 - DAY_S));
  if (!maySend) return null;
  const run = async () => {
    const { deliveries } = await answerOf(
      api.POST('/admin/webhook-deliveries/redeliver', {
        body: {
          failed_after: secondsOf(since) ?? 0,
          ...(host.trim() !== '' && { host: host.trim() }),
          ...(account.trim() !== '' && { account_id: account.trim() }),
        },
      }),
    );
    return wordsOfResent(deliveries);
  };
  return (
    <Act label="Send failed again" title="Send failed webhooks again" run={run}>
      <p>
        Those that failed for good get one attempt more each, at once: at most {count(MOST_AT_ONCE)}
        , the newest first. What was delivered or is still due is left alone. No money moves.
      </p>
      <WordField
        label="Receiver"
        value={host}
        onInput={setHost}
        most={260}
        hint="A host such as hooks.example.com, with its port where it has one. Empty: all."
      />
      <WordField
        label="Account"
        value={account}
        onInput={setAccount}
        most={100}
        hint="An id that begins with acct_. Empty: all."
      />
      <WordField
        label="Failed since"
        type="datetime-local"
        value={since}
        onInput={setSince}
        isRequired
        hint="When the last attempt began, in your time zone."
      />
    </Act>
  );
}

function wordsOfResent(deliveries: number): string {
  if (deliveries === 0) return 'Nothing failed there since then.';
  const sent = `${count(deliveries)} ${deliveries === 1 ? 'delivery is' : 'deliveries are'} sent again now.`;
  return deliveries < MOST_AT_ONCE ? sent : `${sent} Do it once more for the rest.`;
}

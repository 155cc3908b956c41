import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { FIRST_CALL } from '../shared/first-call.js';
import { limitOf } from '../shared/key-columns.js';
import { DOLLARS, microUsdOf, usd } from '../shared/money.js';
import { Badge, Facts, Figures, Id, Money, Panel } from '../shared/parts.js';
import { RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer, usePages } from '../shared/queries.js';
import { useMayManage, useSession } from '../shared/session.js';
import { type Column, PagedTable, Table } from '../shared/table.js';
import { age, When } from '../shared/time.js';
import { CALL_COLUMNS } from './call-columns.js';

type Account = Shape<'AccountView'>;
type Credit = Shape<'AccountCreditView'>;
type Hold = Shape<'HoldView'>;
const READ_EVERY_MS = 5_000;
const LAST_CALLS = 10;

const HOLD_COLUMNS: readonly Column<Hold>[] = [
  {
    head: 'Held',
    isNumber: true,
    cell: ({ amount_microusd: amount }) => <Money microUsd={amount} />,
  },
  { head: 'For', isNumber: true, cell: ({ age_seconds: seconds }) => age(seconds) },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Model', cell: ({ model }) => <span class="whole">{model}</span> },
  {
    head: 'By',
    cell: ({ holder, id }) => (
      <Id id={id} to={`/${holder === 'task' ? 'tasks' : 'calls'}/${id}`} isShort />
    ),
  },
];

/** How much the account has, what holds some of it, and how long it lasts. */
export default function Home() {
  const { data, error } = useAnswer(['account'], () => api.GET('/v1/account'), {
    everyMs: READ_EVERY_MS,
  });
  if (data === undefined) return <Unshown title="Home" error={error} />;
  return (
    <>
      <ScreenHead title="Home" answers="How much have I got, and how long does it last?">
        <Threshold account={data} />
        {data.topup_url !== null && (
          <a class="button main-act" href={data.topup_url} rel="noopener noreferrer">
            Top up
          </a>
        )}
      </ScreenHead>
      <Figures
        of={[
          ['Available', <Money microUsd={data.available_microusd} />],
          ['Held by what runs', <Money microUsd={data.held_microusd} />],
          [
            'Spent per day',
            <Money microUsd={data.burn_microusd_per_day} />,
            <Link href="/usage?range=7d">By model and day</Link>,
          ],
          ['Runs out on', data.runs_out_on ?? 'not at this pace'],
          [
            'Told below',
            data.low_balance_microusd === null ? 'never' : usd(data.low_balance_microusd),
          ],
        ]}
      />
      <KeyLimits />
      <Credits of={data.credits} />
      <Holds />
      <LastCalls />
      <RawJson value={data} />
    </>
  );
}

function Threshold({ account }: { readonly account: Account }) {
  const mayManage = useMayManage();
  const [typed, setTyped] = useState('');
  if (!mayManage) return null;
  const amount = microUsdOf(typed);
  const run = async () => {
    const body = { low_balance_microusd: typed.trim() === '' ? null : String(amount) };
    await answerOf(api.PATCH('/v1/account', { body }));
    return body.low_balance_microusd === null
      ? 'No alert is sent.'
      : `An alert is sent below ${usd(body.low_balance_microusd)}.`;
  };
  return (
    <Act label="Set the alert" title="When to tell of a low balance" run={run}>
      <p>
        Endpoints that are told <span class="mono">balance.low</span> get it once when the balance
        falls below this.{' '}
        {account.low_balance_microusd !== null && `Now: ${usd(account.low_balance_microusd)}.`}
      </p>
      <label class="field">
        <span>Dollars</span>
        <input
          type="text"
          inputMode="decimal"
          pattern={DOLLARS}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <small>Empty: never.</small>
      </label>
    </Act>
  );
}

/** The limits of the key that signed in, where it may call; a portal link has none. */
function KeyLimits() {
  const { key_id: keyId, scopes } = useSession();
  return keyId === null || !scopes.includes('call') ? null : <Limits />;
}

function Limits() {
  const { data } = useAnswer(['key'], () => api.GET('/v1/key'));
  if (data === undefined) return null;
  return (
    <Panel title="This key">
      <Facts
        of={[
          ['Name', data.name],
          ['May', data.scopes.join(', ')],
          ['Models', data.allowed_models?.join(', ') ?? 'all'],
          ['Spend limit', limitOf(data)],
          ['Spent of it', <Money microUsd={data.spent_microusd} />],
          ['Left of it', <Money microUsd={data.left_microusd} />],
          ['Requests per minute', data.requests_per_minute ?? 'as the gateway allows'],
          ['Expires', data.expires_at === null ? 'never' : <When at={data.expires_at} />],
        ]}
      />
    </Panel>
  );
}

const CREDIT_COLUMNS: readonly Column<Credit>[] = [
  { head: 'Kind', cell: ({ credit_kind: kind }) => kind },
  {
    head: 'Left',
    isNumber: true,
    cell: ({ remaining_microusd: left }) => <Money microUsd={left} />,
  },
  { head: 'Expires', cell: ({ expires_at: at }) => (at === null ? 'never' : <When at={at} />) },
];

/** What the balance consists of, in the order in which it is spent. */
function Credits({ of }: { readonly of: readonly Credit[] }) {
  if (of.length === 0) return null;
  return (
    <Panel title="What is left of each credit">
      <p class="soft">Calls spend the first one first. What expires is lost at that time.</p>
      <Table name="What is left of each credit" columns={CREDIT_COLUMNS} rows={of} />
    </Panel>
  );
}

function Holds() {
  const pages = usePages(
    ['holds'],
    (cursor) => api.GET('/v1/holds', { params: { query: cursor === undefined ? {} : { cursor } } }),
    READ_EVERY_MS,
  );
  return (
    <Panel title="What holds money now">
      <PagedTable
        name="What holds money now"
        columns={HOLD_COLUMNS}
        pages={pages}
        empty="Nothing is held: no call or task is under way."
      />
    </Panel>
  );
}

function LastCalls() {
  const { data, error } = useAnswer(['calls', 'last'], () =>
    api.GET('/v1/executions', { params: { query: { limit: LAST_CALLS } } }),
  );
  const none = () => undefined;
  const pages = {
    rows: data?.data,
    error: error ?? undefined,
    hasMore: false,
    isLoadingMore: false,
    more: none,
  };
  return (
    <Panel title="Last calls">
      <PagedTable
        name="Last calls"
        columns={CALL_COLUMNS}
        pages={pages}
        empty={
          <>
            No call yet. The first one: in the <Link href="/playground">Playground</Link>, or with
            an API key:
          </>
        }
        command={FIRST_CALL}
      />
    </Panel>
  );
}

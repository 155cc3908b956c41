import { useParams } from 'wouter-preact';
import { api, type Shape } from '../shared/api.js';
import { usd } from '../shared/money.js';
import { Badge, Copy, Facts, Figures, Money, Panel } from '../shared/parts.js';
import { RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { useAnswer } from '../shared/queries.js';
import { When } from '../shared/time.js';
import { AccountActs } from './account-acts.js';
import { AccountEndpoints } from './account-endpoints.js';
import { AccountHolds } from './account-holds.js';
import { AccountKeys } from './account-keys.js';
import { AccountLedger } from './account-ledger.js';
import { AccountUsage } from './account-usage.js';

const READ_EVERY_MS = 10_000;

/** One account: its money, what holds it, its ledger, keys and usage. */
export default function AccountScreen() {
  const { id } = useParams<{ id: string }>();
  const { data, error } = useAnswer(
    ['account', id],
    () => api.GET('/admin/accounts/{id}', { params: { path: { id } } }),
    { everyMs: READ_EVERY_MS },
  );
  if (data === undefined) return <Unshown title={'Account'} error={error} />;
  return (
    <>
      <ScreenHead
        title={data.name}
        answers={
          <>
            What happened to this customer's money? <span class="mono">{data.id}</span>{' '}
            <Copy text={data.id} what="the id" />{' '}
            <Badge state={data.disabled ? 'disabled' : 'active'} />
          </>
        }
      >
        <AccountActs key={id} account={data} />
      </ScreenHead>
      <Figures
        of={[
          ['Available', <Money microUsd={data.available_microusd} />],
          ['Held by what runs', <Money microUsd={data.held_microusd} />],
          [
            'Balance',
            usd(BigInt(data.available_microusd) + BigInt(data.held_microusd)),
            data.play_money ? 'Play money: it buys the work of the sandbox' : 'Real money',
          ],
        ]}
      />
      <AccountLedger accountId={id} />
      <div class="columns">
        <AccountHolds accountId={id} />
        <Panel title="What the balance consists of">
          <Credits account={data} />
        </Panel>
      </div>
      <AccountKeys accountId={id} />
      <AccountEndpoints accountId={id} />
      <AccountUsage accountId={id} />
      <RawJson value={data} />
    </>
  );
}

function Credits({ account }: { readonly account: Shape<'AccountDetailView'> }) {
  return (
    <Facts
      of={[
        ...account.credits.map(
          ({ credit_kind: kind, remaining_microusd: amount, expires_at: end }) =>
            [
              kind === 'granted' ? 'Granted' : 'Paid',
              <>
                <Money microUsd={amount} />
                {end !== null && (
                  <>
                    {' until '}
                    <When at={end} />
                  </>
                )}
              </>,
            ] as const,
        ),
        ['Price book', account.price_book ?? 'the listed prices'],
        ['Told when below', account.low_balance_microusd && usd(account.low_balance_microusd)],
        ['Created', <When at={account.created_at} />],
      ]}
    />
  );
}

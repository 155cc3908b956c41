import { useState } from 'preact/hooks';
import { Act, type Deed } from '../shared/act.js';
import { AmountTwice } from '../shared/amount.js';
import { answerOf, api, reasonHeader, type Shape } from '../shared/api.js';
import { microUsdOf, usd } from '../shared/money.js';
import { useMay } from '../shared/session.js';
import { ChangeAccount } from './account-terms.js';

type Account = Shape<'AccountDetailView'>;

/** What an operator may do with an account. */
export function AccountActs({ account }: { readonly account: Account }) {
  const mayMoveMoney = useMay('finance');
  const mayChange = useMay('admin');
  return (
    <>
      {mayMoveMoney && <Credit account={account} />}
      {mayMoveMoney && <Correct account={account} />}
      {mayChange && (
        <ChangeAccount
          // The fields begin anew with what the account has by now.
          key={JSON.stringify([account.name, account.price_book, account.low_balance_microusd])}
          account={account}
        />
      )}
      {mayChange && <Disable account={account} />}
    </>
  );
}

async function post(accountId: string, body: Shape<'CreditBody'>, deed: Deed) {
  return answerOf(
    api.POST('/admin/accounts/{id}/credits', {
      params: { path: { id: accountId }, header: { 'Idempotency-Key': deed.idempotencyKey } },
      body,
      headers: reasonHeader(deed.reason),
    }),
  );
}

function After({ account, amount }: { readonly account: Account; readonly amount: bigint }) {
  const available = BigInt(account.available_microusd);
  return (
    <p>
      Available now {usd(available)}, after it <strong>{usd(available + amount)}</strong>.
    </p>
  );
}

function Credit({ account }: { readonly account: Account }) {
  const [typed, setTyped] = useState('');
  const [again, setAgain] = useState('');
  const [isGranted, setGranted] = useState(false);
  const [payment, setPayment] = useState('');
  const amount = microUsdOf(typed) ?? 0n;
  const run = async (deed: Deed) => {
    const entry = await post(
      account.id,
      {
        amount_microusd: amount.toString(),
        note: deed.reason,
        credit_kind: isGranted ? 'granted' : 'paid',
        ...(payment.trim() !== '' && { payment_reference: payment.trim() }),
      },
      deed,
    );
    setTyped('');
    setAgain('');
    return `${usd(amount)} credited. The balance is ${usd(entry.balance_after_microusd)}.`;
  };
  return (
    <Act label="Credit" title={`Credit ${account.name}`} isMain movesMoney run={run}>
      <AmountTwice
        label="Amount in dollars"
        value={typed}
        onInput={setTyped}
        again={again}
        onAgain={setAgain}
      />
      <label class="row">
        <input
          type="checkbox"
          checked={isGranted}
          onChange={(event) => setGranted(event.currentTarget.checked)}
        />
        <span>Granted, not paid: it is spent first</span>
      </label>
      <label class="field">
        <span>What the payment is called</span>
        <input
          type="text"
          maxLength={200}
          value={payment}
          onInput={(event) => setPayment(event.currentTarget.value)}
        />
        <small>Such as the number of an invoice. The holder sees it. May be empty.</small>
      </label>
      <After account={account} amount={amount} />
    </Act>
  );
}

function Correct({ account }: { readonly account: Account }) {
  const [typed, setTyped] = useState('');
  const [again, setAgain] = useState('');
  const amount = microUsdOf(typed) ?? 0n;
  const run = async (deed: Deed) => {
    const body = { amount_microusd: (-amount).toString(), note: deed.reason };
    const entry = await post(account.id, body, deed);
    setTyped('');
    setAgain('');
    return `${usd(amount)} taken off. The balance is ${usd(entry.balance_after_microusd)}.`;
  };
  return (
    <Act label="Correct" title={`Take money off ${account.name}`} isDangerous movesMoney run={run}>
      <p>
        For a credit that was wrong. To give a charge back, open the call or task and refund it.
      </p>
      <AmountTwice
        label="Amount to take off, in dollars"
        value={typed}
        onInput={setTyped}
        again={again}
        onAgain={setAgain}
        most={BigInt(account.available_microusd)}
      />
      <After account={account} amount={-amount} />
    </Act>
  );
}

function Disable({ account }: { readonly account: Account }) {
  const { id, name, disabled } = account;
  const run = async (deed: Deed) => {
    await answerOf(
      api.PATCH('/admin/accounts/{id}', {
        params: { path: { id } },
        body: { disabled: !disabled },
        headers: reasonHeader(deed.reason),
      }),
    );
    return disabled ? `${name} may call again.` : `${name} is refused everywhere within 2 seconds.`;
  };
  return (
    <Act
      label={disabled ? 'Enable' : 'Disable'}
      title={`${disabled ? 'Enable' : 'Disable'} ${name}`}
      isDangerous={!disabled}
      movesMoney
      run={run}
    >
      <p>
        {disabled
          ? 'Its keys work again within 2 seconds.'
          : 'All its keys are refused within 2 seconds. What runs ends as usual; the balance stays.'}
      </p>
    </Act>
  );
}

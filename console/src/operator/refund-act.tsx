import { useState } from 'preact/hooks';
import { Act, type Deed } from '../shared/act.js';
import { Amount } from '../shared/amount.js';
import type { Shape } from '../shared/api.js';
import { microUsdOf, usd } from '../shared/money.js';
import { useMay } from '../shared/session.js';

type Body = Shape<'RefundBody'>;

const REASONS = [
  ['goodwill', 'Goodwill'],
  ['fault', 'The work was bad or did not arrive'],
  ['billing_error', 'It was billed wrongly'],
] as const;

/** Gives a charge back, whole or in part; `left`: micro-USD of it that were not given back yet. */
export function RefundAct(props: {
  readonly left: bigint;
  readonly refund: (body: Body, deed: Deed) => Promise<{ readonly balance_after_microusd: string }>;
}) {
  const { left, refund } = props;
  const [typed, setTyped] = useState(usd(left).slice(1));
  const [reason, setReason] = useState<(typeof REASONS)[number][0]>('goodwill');
  const mayRefund = useMay('finance');
  if (left <= 0n || !mayRefund) return null;
  const amount = microUsdOf(typed) ?? 0n;
  const run = async (deed: Deed) => {
    const body = { amount_microusd: amount.toString(), reason, note: deed.reason };
    const entry = await refund(body, deed);
    return `${usd(amount)} given back. The balance is ${usd(entry.balance_after_microusd)}.`;
  };
  return (
    <Act label="Refund" title="Give the charge back" movesMoney run={run}>
      <Amount
        label="Amount in dollars"
        value={typed}
        onInput={setTyped}
        most={left}
        hint={`At most ${usd(left)}, which is left of the charge. The account gets it at once.`}
      />
      <label class="field">
        <span>Kind</span>
        <select
          value={reason}
          onChange={(event) => {
            const chosen = REASONS.find(([value]) => value === event.currentTarget.value);
            if (chosen) setReason(chosen[0]);
          }}
        >
          {REASONS.map(([value, label]) => (
            <option value={value}>{label}</option>
          ))}
        </select>
        <small>The holder of the account sees the kind, not the reason below.</small>
      </label>
    </Act>
  );
}

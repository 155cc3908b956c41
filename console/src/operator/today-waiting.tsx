import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import type { Shape } from '../shared/api.js';
import { count, usd } from '../shared/money.js';
import { Empty } from '../shared/parts.js';
import { age } from '../shared/time.js';

type Overview = Shape<'OverviewView'>;

const TASKS_ARE_LATE_S = 60;
const WEBHOOKS_ARE_LATE_S = 60;

/** What needs a person, and nothing else. */
export function Waiting({ of }: { readonly of: Overview }) {
  const waiting = thingsThatWait(of);
  if (of.balances.accounts === 0) {
    return (
      <div class="panel">
        <Empty command="npm run cli -- account:create acme">
          There is no account yet, so that nobody can call. The next command:
        </Empty>
      </div>
    );
  }
  if (waiting.length === 0) {
    return <p class="notice">Nothing waits for a person.</p>;
  }
  return (
    <section class="notice bad" aria-label="Waits for a person">
      <h2>Waits for a person</h2>
      <ul>
        {waiting.map((thing) => (
          <li>{thing}</li>
        ))}
      </ul>
    </section>
  );
}

function thingsThatWait(of: Overview): readonly ComponentChildren[] {
  const { to_decide: unknown, breakers, debts, tasks, webhooks, audit } = of;
  return [
    audit.ok === false && 'The audit found a fault: npm run cli -- audit says which.',
    unknown.tasks > 0 && (
      <>
        <Link href="/decide">
          {count(unknown.tasks)} {unknown.tasks === 1 ? 'outcome is' : 'outcomes are'} unknown
        </Link>
        : {usd(unknown.held_microusd)} held
        {unknown.oldest_age_seconds !== null &&
          `, the oldest for ${age(unknown.oldest_age_seconds)}`}
      </>
    ),
    breakers.length > 0 && (
      <>
        <Link href="/providers">Not asked for now</Link>:{' '}
        {breakers.map(({ provider, operation }) => `${provider} (${operation})`).join(', ')}
      </>
    ),
    debts.releases > 0 && `${count(debts.releases)} holds or charges are still to be given back.`,
    tasks.lag_seconds > TASKS_ARE_LATE_S && `Tasks wait for ${age(tasks.lag_seconds)}.`,
    webhooks.lag_seconds > WEBHOOKS_ARE_LATE_S && (
      <>
        <Link href="/webhooks">Webhooks wait</Link> for {age(webhooks.lag_seconds)}.
      </>
    ),
  ].filter((thing) => thing !== false);
}

import { Link } from 'wouter-preact';
import type { Shape } from '../shared/api.js';
import { count } from '../shared/money.js';
import { Badge, Empty, Id, Money } from '../shared/parts.js';
import { type Column, Table } from '../shared/table.js';
import { pageOfProvider } from './pages.js';

type Overview = Shape<'OverviewView'>;
type Provider = Shape<'ProviderOverview'>;
type Dry = Shape<'DryAccountOverview'>;

const DRY: readonly Column<Dry>[] = [
  { head: 'Name', cell: ({ name }) => name },
  { head: 'Account', cell: ({ id }) => <Id id={id} to={`/accounts/${id}`} isShort /> },
  {
    head: 'Available',
    isNumber: true,
    cell: ({ available_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Per day',
    isNumber: true,
    cell: ({ burn_microusd_per_day: amount }) => <Money microUsd={amount} />,
  },
  { head: 'Days left', isNumber: true, cell: ({ days_left: days }) => days },
];

/** Accounts whose money will soon be spent. */
export function RunningDry({ of: dry }: { readonly of: Overview['running_dry'] }) {
  if (dry.count === 0) {
    return <p class="soft">No account spends its money within {dry.within_days} days.</p>;
  }
  return (
    <>
      <p>
        {count(dry.count)} within {dry.within_days} days.{' '}
        <Link href="/accounts?sort=burn">All accounts by what they spend</Link>
      </p>
      <Table name="Accounts whose money ends first" columns={DRY} rows={dry.accounts} />
    </>
  );
}

const SERVED = {
  provider: ['good', 'itself'],
  sandbox: ['wait', 'the sandbox'],
  nobody: ['plain', 'nobody'],
} as const;

const PROVIDERS: readonly Column<Provider>[] = [
  {
    head: 'Provider',
    cell: ({ provider }) => <Link href={pageOfProvider(provider)}>{provider}</Link>,
  },
  { head: 'Key', cell: ({ key_variable: name }) => <span class="mono">{name ?? '–'}</span> },
  { head: 'Is set', cell: ({ has_key: hasKey }) => (hasKey ? 'yes' : 'no') },
  {
    head: 'Work is done by',
    cell: ({ served_by: by }) => <Badge tone={SERVED[by][0]} state={SERVED[by][1]} />,
  },
];

/** Every provider: whether its key is set, and who does its work. */
export function Providers({
  of: { providers, is_sandbox_only: isSandbox },
}: {
  readonly of: Overview;
}) {
  const unset = providers.find(
    ({ has_key: hasKey, key_variable: name }) => !hasKey && name !== null,
  );
  return (
    <>
      {isSandbox && (
        <Empty command={`${unset?.key_variable ?? 'OPENAI_API_KEY'}=… npm start`}>
          Only the sandbox works here: nothing is bought, and accounts have play money. The key of a
          provider makes its work real:
        </Empty>
      )}
      <Table name="Providers" columns={PROVIDERS} rows={providers} />
    </>
  );
}

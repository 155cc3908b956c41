import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Act } from '../shared/act.js';
import { answerOf, api, type Shape } from '../shared/api.js';
import { type Filter, Filters, useFilters } from '../shared/filters.js';
import { Badge, Id, Money, Panel, ScreenHead } from '../shared/parts.js';
import { usePages } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, PagedTable } from '../shared/table.js';
import { When } from '../shared/time.js';

type Account = Shape<'ListedAccountView'>;

const FILTERS: readonly Filter[] = [
  { name: 'name', label: 'Name begins with', placeholder: 'Any name' },
  {
    name: 'sort',
    label: 'First are',
    choices: [
      ['', 'The newest'],
      ['available', 'Those with the least to spend'],
      ['spent', 'Those that spent the most'],
      ['burn', 'Those that spend the most per day'],
    ],
  },
];
const A_LONG_TIME_DAYS = 9_999n;

/** Whole days that the money lasts as it was spent in the last days. */
function daysLeft({ available_microusd: available, burn_microusd_per_day: burn }: Account): string {
  const perDay = BigInt(burn);
  if (perDay <= 0n) return '–';
  const days = BigInt(available) / perDay;
  return days > A_LONG_TIME_DAYS ? `> ${A_LONG_TIME_DAYS}` : String(days);
}

const COLUMNS: readonly Column<Account>[] = [
  {
    head: 'Account',
    cell: ({ id, name }) => (
      <span class="wraps">
        <Link href={`/accounts/${id}`}>{name}</Link>
        <br />
        <small>
          <Id id={id} to={`/accounts/${id}`} isShort />
        </small>
      </span>
    ),
  },
  {
    head: 'Available',
    isNumber: true,
    cell: ({ available_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Held',
    isNumber: true,
    cell: ({ held_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Spent per day',
    isNumber: true,
    cell: ({ burn_microusd_per_day: amount }) => <Money microUsd={amount} />,
  },
  { head: 'Days left', isNumber: true, cell: daysLeft },
  { head: 'Money', cell: ({ play_money: isPlay }) => (isPlay ? 'play' : 'real') },
  { head: 'State', cell: ({ disabled }) => <Badge state={disabled ? 'disabled' : 'active'} /> },
  { head: 'Created', cell: ({ created_at: at }) => <When at={at} /> },
];

/** All accounts. */
export default function Accounts() {
  const filters = useFilters(FILTERS);
  const mayMake = useMay('support');
  const pages = usePages(['accounts', filters], (cursor) =>
    api.GET('/admin/accounts', {
      params: { query: { ...filters, ...(cursor !== undefined && { cursor }) } },
    }),
  );
  const isFiltered = filters.name !== undefined;
  return (
    <>
      <ScreenHead title="Accounts" answers="Who spends, and who runs dry?">
        {mayMake && <NewAccount />}
      </ScreenHead>
      <Panel title="All accounts">
        <Filters of={FILTERS} name="Filters of accounts" />
        <PagedTable
          name="Accounts"
          columns={COLUMNS}
          pages={pages}
          empty={
            isFiltered
              ? 'No account has such a name.'
              : 'There is no account yet. Make one here, or on the command line:'
          }
          command={isFiltered ? undefined : 'npm run cli -- account:create acme'}
        />
      </Panel>
    </>
  );
}

function NewAccount() {
  const [name, setName] = useState('');
  const run = async () => {
    const { id } = await answerOf(api.POST('/admin/accounts', { body: { name: name.trim() } }));
    return `The account ${name.trim()} was made: ${id}.`;
  };
  return (
    <Act label="New account" title="Make an account" isMain run={run}>
      <label class="field">
        <span>Name</span>
        <input
          type="text"
          required
          maxLength={200}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <small>A name of your own. It has no money and no key at first.</small>
      </label>
    </Act>
  );
}

import type { TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, api, type Shape } from '../shared/api.js';
import { Empty, Figures, Id, Money, Panel, Problem } from '../shared/parts.js';
import { endSessionOn } from '../shared/queries.js';
import { useMay } from '../shared/session.js';
import { type Column, Table } from '../shared/table.js';
import { secondsOf } from '../shared/time.js';

type WouldPay = Shape<'WouldPayView'>;

const differenceOf = (row: WouldPay): bigint =>
  BigInt(row.would_charge_microusd) - BigInt(row.charged_microusd);
const sumOf = (rows: readonly WouldPay[], amount: (row: WouldPay) => bigint): bigint =>
  rows.reduce((sum, row) => sum + amount(row), 0n);

function Difference({ microUsd }: { readonly microUsd: bigint }) {
  if (microUsd === 0n) return <span class="soft">the same</span>;
  return (
    <span>
      {microUsd > 0n && '+'}
      <Money microUsd={microUsd.toString()} />
    </span>
  );
}

const COLUMNS: readonly Column<WouldPay>[] = [
  {
    head: 'Account',
    cell: ({ account_id: id }) => <Id id={id} to={`/accounts/${id}`} isShort />,
  },
  {
    head: 'Paid',
    isNumber: true,
    cell: ({ charged_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Would have paid',
    isNumber: true,
    cell: ({ would_charge_microusd: amount }) => <Money microUsd={amount} />,
  },
  {
    head: 'Difference',
    isNumber: true,
    cell: (row) => <Difference microUsd={differenceOf(row)} />,
  },
];

/** What every account would have paid by a price book. */
export function WhatIf({ bookId }: { readonly bookId: string }) {
  const maySee = useMay('finance');
  const [rows, setRows] = useState<readonly WouldPay[]>();
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  if (!maySee) {
    return (
      <Panel title="What if">
        <p class="soft">What accounts would have paid needs the role finance.</p>
      </Panel>
    );
  }
  const ask = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    setRows(undefined);
    const body = timesOf(new FormData(event.currentTarget));
    answerOf(
      api.POST('/admin/price-books/{id}/what-if', { params: { path: { id: bookId } }, body }),
    )
      .then(({ data }) => setRows(data))
      .catch((problem: unknown) => {
        endSessionOn(problem);
        setError(problem);
      })
      .finally(() => setSending(false));
  };
  return (
    <Panel title="What if">
      <p>
        What would every account have paid by the version in force? The calls and tasks of a time
        are priced anew. Nothing changes.
      </p>
      <form class="filters" onSubmit={ask}>
        <Moment name="from" label="From" />
        <Moment name="to" label="Before" />
        <button type="submit" disabled={isSending}>
          {isSending ? 'Pricing anew…' : 'Price anew'}
        </button>
      </form>
      <p class="soft">Empty: the last whole month of UTC.</p>
      {error !== undefined && <Problem error={error} />}
      {rows !== undefined && <Answer rows={rows} />}
    </Panel>
  );
}

function Moment({ name, label }: { readonly name: string; readonly label: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="datetime-local" name={name} />
    </label>
  );
}

function timesOf(typed: FormData): Shape<'WhatIfBody'> {
  const times = ['from', 'to'].flatMap((name) => {
    const value = typed.get(name);
    const seconds = typeof value === 'string' ? secondsOf(value) : undefined;
    return seconds === undefined ? [] : [[name, seconds] as const];
  });
  return Object.fromEntries(times);
}

function Answer({ rows }: { readonly rows: readonly WouldPay[] }) {
  if (rows.length === 0) {
    return <Empty>Nobody was charged in this time. Choose another one.</Empty>;
  }
  const paid = sumOf(rows, (row) => BigInt(row.charged_microusd));
  const difference = sumOf(rows, differenceOf);
  return (
    <>
      <Figures
        of={[
          ['All paid', <Money microUsd={paid.toString()} />],
          ['All would have paid', <Money microUsd={(paid + difference).toString()} />],
          ['Difference', <Difference microUsd={difference} />],
        ]}
      />
      <Table name="What accounts would have paid" columns={COLUMNS} rows={rows} />
    </>
  );
}

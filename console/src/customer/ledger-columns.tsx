import type { Shape } from '../shared/api.js';
import { usd } from '../shared/money.js';
import { Id, Money } from '../shared/parts.js';
import type { Column } from '../shared/table.js';
import { When } from '../shared/time.js';

export type Entry = Shape<'OwnLedgerEntryView'>;

/** The call or task that an entry is about, as a link. */
function Reference({ reference }: { readonly reference: string | null }) {
  const place = reference?.startsWith('exec_')
    ? 'calls'
    : reference?.startsWith('task_')
      ? 'tasks'
      : undefined;
  return place === undefined || reference === null ? (
    <Id id={reference} />
  ) : (
    <Id isShort id={reference} to={`/${place}/${reference}`} />
  );
}

/** What the payment of a credit is called, its currency and its tax. */
function paymentOf(entry: Entry): string {
  const { payment_reference: name, currency, tax_microusd: tax } = entry;
  const parts = [name, currency, tax === null ? null : `tax ${usd(tax)}`];
  return parts.filter((part) => part !== null).join(', ') || '–';
}

export const WHEN: Column<Entry> = { head: 'When', cell: ({ created_at: at }) => <When at={at} /> };
export const KIND: Column<Entry> = {
  head: 'Kind',
  cell: ({ kind, correction_kind: correction, credit_kind: credit }) =>
    correction ?? (credit === null ? kind : `${credit} ${kind}`),
};
export const AMOUNT: Column<Entry> = {
  head: 'Amount',
  isNumber: true,
  cell: ({ amount_microusd: amount }) => <Money microUsd={amount} />,
};
export const BALANCE: Column<Entry> = {
  head: 'Balance after',
  isNumber: true,
  cell: ({ balance_after_microusd: amount }) => <Money microUsd={amount} />,
};
export const FOR: Column<Entry> = {
  head: 'For',
  cell: ({ reference }) => <Reference reference={reference} />,
};
export const REASON: Column<Entry> = {
  head: 'Reason',
  cell: ({ reason }) => reason?.replaceAll('_', ' ') ?? '–',
};
export const PAYMENT: Column<Entry> = { head: 'Payment', cell: paymentOf };
export const EXPIRES: Column<Entry> = {
  head: 'Expires',
  cell: ({ expires_at: at }) => (at === null ? 'never' : <When at={at} />),
};

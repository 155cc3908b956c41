import type { ComponentChildren } from 'preact';
import { Link, useParams } from 'wouter-preact';
import type { Shape } from '../shared/api.js';
import { count, usd } from '../shared/money.js';
import { Copy, Facts, Money, Panel, RawJson, ScreenHead, Unshown } from '../shared/parts.js';
import { type Column, Table, useEvenPlaces } from '../shared/table.js';
import { AMOUNT, type Entry, EXPIRES, FOR, KIND, PAYMENT, REASON, WHEN } from './ledger-columns.js';
import {
  answerUrl,
  monthBack,
  monthBeside,
  monthWords,
  type Statement,
  useStatement,
} from './statement-parts.js';
import { StatementState } from './statements.js';

type ModelCharge = Shape<'ModelChargeView'>;

/** The statement of a month. */
export default function StatementOfMonth() {
  const { month } = useParams<{ month: string }>();
  const { data, error } = useStatement(month);
  const title = `Statement of ${monthWords(month)}`;
  if (data === undefined) return <Unshown title={title} error={error} />;
  const path = `/v1/statements/${month}`;
  return (
    <>
      <ScreenHead
        title={title}
        answers={
          <>
            What came, what was spent, and what is left: <StatementState of={data} />
          </>
        }
      >
        <a
          class="button"
          href={answerUrl(path, { format: 'html' })}
          target="_blank"
          rel="noopener noreferrer"
        >
          Open to print
        </a>
        <a class="button" href={answerUrl(path, { format: 'csv' })} download>
          Save as CSV
        </a>
      </ScreenHead>
      <Beside month={month} />
      <div class="columns">
        <Panel title="The sum">
          <Balance of={data} />
        </Panel>
        <Panel title="Facts">
          <Facts of={factsOf(data)} />
        </Panel>
      </div>
      <Charges of={data.charges} />
      <Entries title="Credits" of={data.credits} columns={[WHEN, AMOUNT, KIND, PAYMENT, EXPIRES]} />
      <Entries title="Refunds" of={data.refunds} columns={[WHEN, AMOUNT, REASON, FOR]} />
      <Entries title="Corrections" of={data.corrections} columns={[WHEN, AMOUNT, REASON, FOR]} />
      <Entries title="Expired credits" of={data.expiries} columns={[WHEN, AMOUNT, FOR]} />
      {data.omitted_entries > 0 && (
        <p class="notice">
          {count(data.omitted_entries)} further entries are counted in the sums and stand in the
          CSV.
        </p>
      )}
      <RawJson value={data} />
    </>
  );
}

/** The months before and after; none is after the running one. */
function Beside({ month }: { readonly month: string }) {
  const [former, next] = [monthBeside(month, -1), monthBeside(month, 1)];
  return (
    <nav class="row" aria-label="Other months">
      <Link href={`/statements/${former}`}>← {monthWords(former)}</Link>
      {month < monthBack(0) && <Link href={`/statements/${next}`}>{monthWords(next)} →</Link>}
      <Link href="/statements">All months</Link>
    </nav>
  );
}

function factsOf(statement: Statement): readonly (readonly [string, ComponentChildren])[] {
  const { number, account_id: account, currency, status, tax_microusd: tax } = statement;
  return [
    [
      'Number',
      <>
        <span class="mono">{number}</span> <Copy text={number} what="the number" />
      </>,
    ],
    ['Account', <span class="mono">{account}</span>],
    ['Month', `${statement.month}, in UTC`],
    ['Currency', currency],
    ['State', status === 'open' ? 'open: it may still change' : 'closed: it never changes'],
    ['Tax of the credits', tax === null ? 'none is told' : usd(tax)],
  ];
}

/** The opening balance, what was added and taken, and the closing one. */
function Balance({ of }: { readonly of: Statement }) {
  const table = useEvenPlaces();
  const taken = (amount: string): string => (-BigInt(amount)).toString();
  const lines: readonly (readonly [string, string])[] = [
    ['Opening balance', of.opening_microusd],
    ['Credits', of.credits_microusd],
    ['Corrections', of.corrections_microusd],
    ['Charges', taken(of.charges_microusd)],
    ['Refunds', of.refunds_microusd],
    ['Expired', taken(of.expired_microusd)],
  ];
  return (
    <table class="sum" ref={table}>
      <caption class="hidden-caption">The sum of the month</caption>
      <tbody>
        {lines.map(([name, amount]) => (
          <tr>
            <td>{name}</td>
            <td class="end">
              <Money microUsd={amount} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>Closing balance</td>
          <td class="end">
            <Money microUsd={of.closing_microusd} />
          </td>
        </tr>
        {of.held_microusd !== null && (
          <tr class="soft">
            <td>Of this, held for running work</td>
            <td class="end">
              <Money microUsd={of.held_microusd} />
            </td>
          </tr>
        )}
      </tfoot>
    </table>
  );
}

const measured = ({ quantity, unit }: ModelCharge): string =>
  quantity === null || unit === null
    ? '–'
    : `${count(quantity)} ${unit.replaceAll('_', ' ')}${quantity === 1 ? '' : 's'}`;
const tokens = (charge: ModelCharge): string =>
  charge.unit === 'token'
    ? `${count(charge.input_tokens)} in (${count(charge.cached_tokens)} cached), ${count(charge.output_tokens)} out (${count(charge.reasoning_tokens)} reasoning)`
    : '–';

const CHARGE_COLUMNS: readonly Column<ModelCharge>[] = [
  {
    head: 'Model',
    cell: ({ model }) =>
      model === null ? (
        'other calls'
      ) : (
        <Link href={`/calls?model=${encodeURIComponent(model)}`}>{model}</Link>
      ),
  },
  { head: 'Calls', isNumber: true, cell: ({ calls }) => count(calls) },
  { head: 'Quantity', isNumber: true, cell: measured },
  {
    head: 'Amount',
    isNumber: true,
    cell: ({ amount_microusd: amount }) => <Money microUsd={amount} />,
  },
  { head: 'Tokens', cell: tokens },
];

function Charges({ of }: { readonly of: readonly ModelCharge[] }) {
  return (
    <Panel title="Charges by model">
      {of.length === 0 ? (
        <p class="soft">Nothing was charged in this month.</p>
      ) : (
        <Table name="Charges by model" columns={CHARGE_COLUMNS} rows={of} />
      )}
    </Panel>
  );
}

function Entries(props: {
  readonly title: string;
  readonly of: readonly Entry[];
  readonly columns: readonly Column<Entry>[];
}) {
  const { title, of, columns } = props;
  if (of.length === 0) return null;
  return (
    <Panel title={title}>
      <Table name={title} columns={columns} rows={of} />
    </Panel>
  );
}

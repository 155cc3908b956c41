import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Badge, Money, Panel, ScreenHead } from '../shared/parts.js';
import { type Column, Table } from '../shared/table.js';
import {
  answerUrl,
  monthBack,
  monthWords,
  type Statement,
  StatementTabs,
  useStatement,
} from './statement-parts.js';

const MONTHS_AT_ONCE = 6;
type Amount = 'opening' | 'credits' | 'charges' | 'refunds' | 'closing';

function Sum({ month, of }: { readonly month: string; readonly of: Amount }) {
  const { data, error } = useStatement(month);
  if (error !== null && data === undefined) return <span class="soft">not read</span>;
  if (data === undefined) return <span class="soft">…</span>;
  return <Money microUsd={data[`${of}_microusd`]} />;
}

function State({ month }: { readonly month: string }) {
  const { data, error } = useStatement(month);
  if (data === undefined) return error === null ? null : <span class="soft">{error.message}</span>;
  return <StatementState of={data} />;
}

/** Whether a statement may still change. */
export function StatementState({ of }: { readonly of: Statement }) {
  return <Badge state={of.status} tone={of.status === 'open' ? 'wait' : 'plain'} />;
}

const sumColumn = (head: string, of: Amount): Column<string> => ({
  head,
  isNumber: true,
  cell: (month) => <Sum month={month} of={of} />,
});
const COLUMNS: readonly Column<string>[] = [
  {
    head: 'Month (UTC)',
    cell: (month) => <Link href={`/statements/${month}`}>{monthWords(month)}</Link>,
  },
  { head: 'State', cell: (month) => <State month={month} /> },
  sumColumn('Opening', 'opening'),
  sumColumn('Credits', 'credits'),
  sumColumn('Charges', 'charges'),
  sumColumn('Refunds', 'refunds'),
  sumColumn('Closing', 'closing'),
  {
    head: 'Keep',
    cell: (month) => (
      <a href={answerUrl(`/v1/statements/${month}`, { format: 'csv' })} download>
        CSV<span class="only-read"> of {monthWords(month)}</span>
      </a>
    ),
  },
];

/** The months of the account, for whoever keeps its accounts. */
export default function Statements() {
  const [count, setCount] = useState(MONTHS_AT_ONCE);
  const months = Array.from({ length: count }, (_, back) => monthBack(back));
  return (
    <>
      <ScreenHead title="Statements" answers="What do I give to finance?" />
      <StatementTabs open="/statements" />
      <Panel title="Months">
        <Table name="Months" columns={COLUMNS} rows={months} />
        <div>
          <button type="button" onClick={() => setCount(count + MONTHS_AT_ONCE)}>
            Show earlier months
          </button>
        </div>
      </Panel>
    </>
  );
}

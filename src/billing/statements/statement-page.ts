import { createHash } from 'node:crypto';
import { toPublicId } from '../../common/ids/public-id.js';
import { usdText } from '../../common/money/usd-text.js';
import type { LedgerEntry } from '../ledger-entry.js';
import { viewOwnEntry } from '../ledger/ledger-entry.view.js';
import type { ModelCharge, Statement } from './statement.js';
import { rowsOf, type StatementLine, type StatementRow } from './statement-rows.js';
import { statementNumber } from './statement.view.js';

const STYLE = `
  body { font: 14px/1.4 system-ui, sans-serif; color: #111; margin: 2em auto; max-width: 60em; padding: 0 1em; }
  h1 { font-size: 1.5em; margin: 0; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2em 1.5em; }
  dt { color: #555; }
  dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; margin-top: 1.5em; }
  caption { text-align: left; font-weight: 600; padding: 0.4em 0; }
  th, td { text-align: left; vertical-align: top; padding: 0.3em 0.6em; border-bottom: 1px solid #ddd; }
  th { white-space: nowrap; }
  td { min-width: 6em; overflow-wrap: anywhere; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
  .total { font-weight: 600; }
  p { color: #555; }
  @page { margin: 15mm; }
  @media (max-width: 40em) { body { padding: 0 0.5em; } th, td { padding: 0.3em 0.25em; } th { white-space: normal; } td { min-width: 0; } }
  @media print { body { margin: 0; max-width: none; font-size: 11px; } }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The content security policy of the page: its own style, and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const SUMS: readonly (readonly [string, (statement: Statement) => bigint])[] = [
  ['Opening balance', ({ openingMicroUsd }) => openingMicroUsd],
  ['Credits', ({ credits }) => credits.totalMicroUsd],
  ['Corrections', ({ corrections }) => corrections.totalMicroUsd],
  ['Charges', ({ chargesMicroUsd }) => -chargesMicroUsd],
  ['Refunds', ({ refunds }) => refunds.totalMicroUsd],
  ['Expired', ({ expiries }) => expiries.totalMicroUsd],
];
const HEADINGS: readonly (readonly [StatementLine, string])[] = [
  ['correction', 'Corrections'],
  ['refund', 'Refunds'],
  ['expiry', 'Expired credits'],
];

/** The statement as a page to print: HTML without a script, whose text is escaped. */
export function pageOfStatement(statement: Statement, isOperator: boolean): string {
  const number = statementNumber(statement);
  const rows = rowsOf(statement);
  const parts = [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Statement ${escaped(number)}</title><style>${STYLE}</style></head><body>`,
    `<h1>Statement of ${escaped(statement.month)}</h1>`,
    factsOf(statement, isOperator),
    summaryOf(statement),
    chargesOf(rows.filter(({ line }) => line === 'charge')),
    creditsOf(rows.filter(({ line }) => line === 'credit')),
    ...HEADINGS.map(([line, title]) =>
      entriesOf(
        title,
        rows.filter((row) => row.line === line),
      ),
    ),
    '<p>Times and the month are of UTC. Amounts are in USD. A refund stands in the month in which it was made.</p>',
    '</body></html>',
  ];
  return `${parts.filter((part) => part !== '').join('\n')}\n`;
}

function factsOf(statement: Statement, isOperator: boolean): string {
  const { accountId, accountName, isClosed } = statement;
  const facts: [string, string][] = [
    ['Number', statementNumber(statement)],
    ['Account', toPublicId('acct', accountId)],
    ...(isOperator ? ([['Name', accountName]] as [string, string][]) : []),
    ['Currency', 'USD'],
    ['Status', isClosed ? 'closed' : 'open: it may still change'],
  ];
  const lines = facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`);
  return `<dl>${lines.join('')}</dl>`;
}

function summaryOf(statement: Statement): string {
  const { closingMicroUsd, heldMicroUsd } = statement;
  const sums = SUMS.map(([name, amount]) => sumRow(name, amount(statement)));
  const closing = sumRow('Closing balance', closingMicroUsd, 'total');
  const held = heldMicroUsd === null ? '' : sumRow('Of this, held for running work', heldMicroUsd);
  return tableOf('Summary', [], [...sums, closing, held]);
}

const sumRow = (name: string, amount: bigint, kind?: string): string =>
  `<tr${kind === undefined ? '' : ` class="${kind}"`}><th scope="row">${name}</th>${moneyCell(amount)}</tr>`;

function chargesOf(rows: readonly StatementRow[]): string {
  if (rows.length === 0) return '';
  const lines = rows.flatMap(({ charge, amountMicroUsd }) => {
    if (charge === undefined) return [];
    const { model, calls, tokens, quantity, unit } = charge;
    const measured =
      quantity === null || unit === null
        ? ''
        : `${quantity} ${wordsOf(unit)}${quantity === 1 ? '' : 's'}`;
    const split = unit === 'token' ? splitOf(tokens) : '';
    const cells = [model ?? 'other calls', String(calls), measured, split];
    return [`<tr>${cells.map(cell).join('')}${moneyCell(amountMicroUsd)}</tr>`];
  });
  return tableOf('Charges by model', ['Model', 'Calls', 'Quantity', 'Tokens', 'USD'], lines);
}

function splitOf(tokens: ModelCharge['tokens']): string {
  const input = `${tokens.input_tokens} in (${tokens.cached_tokens} cached)`;
  return `${input}, ${tokens.output_tokens} out (${tokens.reasoning_tokens} reasoning)`;
}

/** When it came, what the payment is called, its kind, currency and tax. */
function cellsOfCredit({ id, createdAt, terms }: LedgerEntry): string[] {
  const { kind = '', paymentReference = null, currency = null, taxMicroUsd = null } = terms ?? {};
  const tax = taxMicroUsd === null ? '' : usdText(taxMicroUsd);
  const reference = paymentReference ?? toPublicId('entry', id);
  return [timeOf(createdAt), reference, kind, currency ?? '', tax];
}

function creditsOf(rows: readonly StatementRow[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(({ entry, further, amountMicroUsd }) => {
    const cells = entry
      ? cellsOfCredit(entry)
      : ['', `${further ?? 0} further entries`, '', '', ''];
    return `<tr>${cells.map(cell).join('')}${moneyCell(amountMicroUsd)}</tr>`;
  });
  return tableOf('Credits', ['Time', 'Payment', 'Kind', 'Currency', 'Tax (USD)', 'USD'], lines);
}

function entriesOf(title: string, rows: readonly StatementRow[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(({ entry, further, amountMicroUsd }) => {
    const view = entry && viewOwnEntry(entry);
    const cells = entry
      ? [timeOf(entry.createdAt), view?.reference ?? view?.id ?? '', wordsOf(view?.reason ?? '')]
      : ['', `${further ?? 0} further entries`, ''];
    return `<tr>${cells.map(cell).join('')}${moneyCell(amountMicroUsd)}</tr>`;
  });
  return tableOf(title, ['Time', 'Reference', 'Reason', 'USD'], lines);
}

function tableOf(title: string, names: readonly string[], lines: readonly string[]): string {
  const last = names.length - 1;
  const heads = names.map(
    (name, at) => `<th scope="col"${at === last ? ' class="number"' : ''}>${name}</th>`,
  );
  const head = names.length === 0 ? '' : `<thead><tr>${heads.join('')}</tr></thead>`;
  return `<table><caption>${title}</caption>${head}<tbody>\n${lines.join('\n')}\n</tbody></table>`;
}

const cell = (text: string): string => `<td>${escaped(text)}</td>`;
const moneyCell = (amount: bigint): string => `<td class="number">${usdText(amount)}</td>`;
/** To the second, without the letters of ISO 8601. */
const timeOf = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ');
const wordsOf = (word: string): string => word.replaceAll('_', ' ');

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

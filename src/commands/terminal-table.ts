import { usdText } from '../common/money/usd-text.js';
import { printableText } from '../common/validation/text-rule.js';

const MAX_CELL = 60;
const GAP = '  ';
/** A text is not broken into lines narrower than this. */
const MIN_TEXT = 20;
const MICRO_USD = /^-?\d{1,18}$/;
const USD = '_usd';
type Row = Readonly<Record<string, unknown>>;

/**
 * An answer of the operator API for a terminal of this width. A list is a table with one row per item; where that is wider than the
 * terminal, a block of lines per item. An object is one line per field.
 */
export function tableOf(answer: unknown, columns: number): string {
  if (typeof answer === 'string') return answer;
  if (!isList(answer)) return fieldsOf(answer as Row, columns);
  const { data, next_cursor: cursor, has_more: _, object: __, ...facts } = answer;
  const shown = data.length === 0 ? 'Nothing.' : listOf(data, columns);
  const about = Object.keys(facts).length === 0 ? [] : ['', fieldsOf(facts, columns)];
  const more = cursor === null ? [] : [`More: --cursor ${cursor}`];
  return [shown, ...about, ...more].join('\n');
}

interface List extends Row {
  readonly data: Row[];
  readonly next_cursor: string | null;
}

function isList(answer: unknown): answer is List {
  return (answer as Row | null)?.object === 'list';
}

function listOf(rows: readonly Row[], columns: number): string {
  const table = rowsAsTable(rows);
  if (table.every((line) => line.length <= columns)) return table.join('\n');
  return rows.map((row) => fieldsOf(withoutEmpty(row), columns)).join('\n\n');
}

function withoutEmpty(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => (value ?? null) !== null));
}

function rowsAsTable(rows: readonly Row[]): string[] {
  const names = shownOf(new Set(rows.flatMap((row) => Object.keys(row)))).filter((name) =>
    rows.some((row) => (row[name] ?? null) !== null),
  );
  const lines = [names, ...rows.map((row) => names.map((name) => cut(cellOf(row[name], name))))];
  const widths = names.map((_name, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  return lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** The fields to show: the amount of a field in USD is in the cell of that in micro-USD. */
function shownOf(names: ReadonlySet<string>): string[] {
  const isTwice = (name: string) =>
    name.endsWith(USD) && names.has(`${name.slice(0, -USD.length)}_microusd`);
  return [...names].filter((name) => name !== 'object' && !isTwice(name));
}

function fieldsOf(row: Row, columns: number): string {
  const names = shownOf(new Set(Object.keys(row)));
  const width = Math.max(...names.map((name) => name.length));
  const room = Math.max(MIN_TEXT, columns - width - GAP.length);
  const margin = `\n${' '.repeat(width)}${GAP}`;
  return names
    .map((name) => `${name.padEnd(width)}${GAP}${linesOf(row[name], name, room).join(margin)}`)
    .map((line) => line.trimEnd())
    .join('\n');
}

/** The value in lines of this width; the items of a list of texts or of objects begin lines of their own. */
function linesOf(value: unknown, name: string, width: number): string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const isOfTexts = items.every((item) => typeof item === 'string');
  const isOfRows = items.every((item) => typeof item === 'object' && item !== null);
  const isList = Array.isArray(value) && (isOfTexts || isOfRows);
  const shownItem = (item: unknown) =>
    isOfTexts ? cellOf(item, name) : phraseOf(withoutEmpty(item as Row));
  return (isList ? items.map(shownItem) : [cellOf(value, name)]).flatMap((text) =>
    broken(text, width),
  );
}

/** The fields of an object in one line. */
function phraseOf(row: Row): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} ${cellOf(value, name)}`)
    .join(', ');
}

/** At spaces where there are some, else anywhere. */
function broken(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const space = text.lastIndexOf(' ', width);
  const end = space > 0 ? space : width;
  return [text.slice(0, end), ...broken(text.slice(end).trimStart(), width)];
}

function cut(cell: string): string {
  return cell.length > MAX_CELL ? `${cell.slice(0, MAX_CELL - 1)}…` : cell;
}

/** Times are shown as dates, micro-USD with the amount in USD. */
function cellOf(value: unknown, name: string): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && (name === 'at' || name.endsWith('_at'))) {
    return new Date(value * 1000).toISOString().slice(0, 19) + 'Z';
  }
  if (name.endsWith('_microusd') && typeof value === 'string' && MICRO_USD.test(value)) {
    return `${value} (${usdText(BigInt(value))} USD)`;
  }
  return printableText(typeof value === 'string' ? value : JSON.stringify(value));
}

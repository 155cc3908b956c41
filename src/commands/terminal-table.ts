import { printableText } from '../common/printable-text.js';

const MAX_CELL = 60;
type Row = Readonly<Record<string, unknown>>;

/**
 * An answer of the operator API as a table for a terminal: one row per item of a list, one line per field of an object.
 */
export function tableOf(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  if (isList(answer)) {
    const more = answer.next_cursor === null ? '' : `\nMore: --cursor ${answer.next_cursor}`;
    return (answer.data.length === 0 ? 'Nothing.' : rowsAsTable(answer.data)) + more;
  }
  return fieldsOf(answer as Row);
}

function isList(answer: unknown): answer is { data: Row[]; next_cursor: string | null } {
  return (answer as Row | null)?.object === 'list';
}

function rowsAsTable(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter(
    (name) => name !== 'object' && rows.some((row) => (row[name] ?? null) !== null),
  );
  const lines = [names, ...rows.map((row) => names.map((name) => cellOf(row[name], name)))];
  const widths = names.map((_name, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function fieldsOf(row: Row): string {
  const names = Object.keys(row).filter((name) => name !== 'object');
  const width = Math.max(...names.map((name) => name.length));
  return names
    .map((name) => `${name.padEnd(width)}  ${cellOf(row[name], name, Infinity)}`)
    .join('\n');
}

/** Times are shown as dates. */
function cellOf(value: unknown, name: string, max = MAX_CELL): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && (name === 'at' || name.endsWith('_at'))) {
    return new Date(value * 1000).toISOString().slice(0, 19) + 'Z';
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = printableText(text);
  return shown.length > max ? `${shown.slice(0, max - 1)}…` : shown;
}

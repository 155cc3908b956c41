/** What a cell of a CSV may hold. */
export type CsvValue = string | number | boolean | null | undefined;

export const CSV_LINE_END = '\r\n';

/** Lines of names and values with CRLF between them (RFC 4180), none behind the last. Null is empty. */
export function csvOf(names: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [names, ...rows].map((row) => row.map(cellOf).join(',')).join(CSV_LINE_END);
}

/** The text of one CSV, in pieces: only the first has the line of names. `csv` is that of some items. */
export async function* csvOfPages<Item>(
  pages: AsyncIterable<readonly Item[]>,
  csv: (items: readonly Item[]) => string,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const items of pages) {
    if (!isFirst && items.length === 0) continue;
    const text = csv(items);
    // A name has no end of a line.
    yield isFirst ? text : text.slice(text.indexOf(CSV_LINE_END));
    isFirst = false;
  }
}

/** The head of an HTTP answer, as far as a CSV sets it. */
export interface CsvHead {
  type(name: string): unknown;
  setHeader(name: string, value: string): unknown;
}

/** Says that the answer is CSV and under which name a browser stores it. The name must be plain ASCII without quotes. */
export function setCsvHead(head: CsvHead, fileName: string): void {
  head.type('text/csv');
  head.setHeader('content-disposition', `attachment; filename="${fileName}"`);
}

/** Quoted if necessary. Text that a spreadsheet would take for a formula gets an apostrophe; a number stays a number. */
function cellOf(value: CsvValue): string {
  if (typeof value !== 'string') return value?.toString() ?? '';
  const isFormula = /^[=+@\t\r-]/.test(value) && !/^-\d+(\.\d+)?$/.test(value);
  const text = isFormula ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

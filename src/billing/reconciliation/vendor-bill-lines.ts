import { StringDecoder } from 'node:string_decoder';

/** Most characters of a line. */
const MAX_LINE = 10_000;
/** Most characters of a request id. */
const MAX_ID = 200;
/** USD; a credit of the vendor's is negative. */
const AMOUNT = /^-?\d{1,10}(?:\.\d{1,18})?$/;
/** The first two cells of a line: quoted, with doubled quotes inside, or plain. Further cells are not read. */
const CELLS = /^(?:\s*"((?:[^"]|"")*)"\s*|([^,"]*)),(?:\s*"((?:[^"]|"")*)"\s*|([^,"]*))(?:,.*)?$/s;

/** A line of a vendor's bill: what one request costs by the vendor, in USD as it stands there. */
export interface BillLine {
  readonly line: number;
  readonly requestId: string;
  readonly amount: string;
}

/** A line that cannot be read, and the end of the sentence that says why. */
export interface BadLine {
  readonly line: number;
  readonly says: string;
}

/**
 * The lines of a vendor's bill: CSV of a request id and an amount, one request in a line, with a first line of names or without.
 * Reads as the bytes come, and keeps no more of them than one line.
 */
export async function* billLinesOf(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<BillLine | BadLine> {
  let line = 0;
  for await (const text of linesOf(bytes)) {
    line += 1;
    if (text?.trim() === '') continue;
    const read = text === undefined ? TOO_LONG : readLine(text);
    if (typeof read !== 'string') yield { line, ...read };
    // Names of columns have no digits where an amount is.
    else if (line > 1 || text === undefined || /\d/.test(amountIn(text)))
      yield { line, says: read };
  }
}

const TOO_LONG = `has more than ${MAX_LINE} characters`;

function readLine(text: string): Omit<BillLine, 'line'> | string {
  const [, quotedId, plainId = '', quotedAmount, plainAmount = ''] = CELLS.exec(text) ?? [];
  const requestId = (quotedId ?? plainId).replaceAll('""', '"').trim();
  const amount = (quotedAmount ?? plainAmount).trim();
  if (requestId === '') return 'has no request id before an amount';
  if (requestId.length > MAX_ID) return `has a request id of more than ${MAX_ID} characters`;
  if (requestId.includes('\0')) return 'has a request id with a NUL character';
  if (!AMOUNT.test(amount)) return 'has no amount in USD, such as 0.0012';
  return { requestId, amount };
}

const amountIn = (text: string): string => text.slice(text.indexOf(',') + 1);

/** Lines without their ends; undefined for one that is too long. */
async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let isTooLong = false;
  let isFirst = true;
  for await (const chunk of bytes) {
    const text = decoder.write(chunk);
    const [first = '', ...others] = (isFirst ? text.replace(/^\uFEFF/, '') : text).split('\n');
    isFirst = false;
    rest += isTooLong ? '' : first;
    for (const next of others) {
      yield isTooLong || rest.length > MAX_LINE ? undefined : rest.replace(/\r$/, '');
      rest = next;
      isTooLong = false;
    }
    if (rest.length <= MAX_LINE) continue;
    rest = '';
    isTooLong = true;
  }
  rest += decoder.end();
  if (isTooLong || rest !== '') yield isTooLong ? undefined : rest.replace(/\r$/, '');
}

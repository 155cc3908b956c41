import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { PRIVATE_FILE_MODE } from '../common/private-files.js';
import { isJsonObject } from '../common/json-object.js';
import { AccountMoveError } from './move-session.js';

/** Increased when older versions of the gateway cannot read new files. */
const VERSION = 1;
const OBJECT = 'shim.account';
/** Longest line, in bytes: the largest row of a task is far smaller. */
const MAX_LINE_BYTES = 67_108_864;
/** Most rows of a batch, and the bytes at which one ends before. */
const BATCH_ROWS = 500;
const BATCH_BYTES = 4_194_304;
const NEWLINE = 0x0a;
const DIGITS = /^[0-9]{1,19}$/;
const HEX_64 = /^[0-9a-f]{64}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The first line: what the file is. Times are texts of PostgreSQL, amounts decimal digits of micro-USD. */
export interface MoveHeader {
  /** Of the move. */
  readonly id: string;
  readonly receiptKey: string;
  readonly accountId: string;
  /** The ids of the cell that may import it, and of the one that it is from. */
  readonly cell: string;
  readonly from: string;
  /** The last migration of the schema. */
  readonly migration: string;
  /** When the newest thing in it happened. */
  readonly newest: string;
  /** Since when the sums of hours are whole, and what was held at the ends of months is known. */
  readonly hoursFrom: string;
  readonly heldFrom: string;
  readonly posted: string;
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Where the lines of a file go. */
export interface MoveReader {
  /** Takes the first line. What it throws refuses the file. */
  readonly begin: (header: MoveHeader) => void;
  /** Takes the next rows, each a line of JSON: `{"table": …, "row": …}`. */
  readonly take: (lines: readonly string[]) => Promise<void>;
}

/**
 * Writes lines of JSON, compressed: the header, the rows, and the SHA-256 of all lines before. Only its user can read the file, and it
 * gets its name when it is complete. Throws {@link AccountMoveError} where the file exists. Returns its size in bytes.
 */
export async function writeMoveFile(
  file: string,
  header: MoveHeader,
  rows: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
): Promise<number> {
  await rejectExisting(file);
  const unfinished = `${file}.unfinished`;
  const target = createWriteStream(unfinished, {
    mode: PRIVATE_FILE_MODE,
    flags: 'wx',
    flush: true,
  });
  try {
    const lines = Readable.from(linesOf(header, rows), { objectMode: true });
    await pipeline(lines, createGzip(), target, { signal });
    await rejectExisting(file);
    await rename(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new AccountMoveError(
        `${unfinished} is what an export that was killed left, or one that still runs writes. Remove it when none runs, or name another file.`,
      );
    }
    await rm(unfinished, { force: true });
    throw signal.aborted ? signal.reason : error;
  }
  return (await stat(file)).size;
}

async function* linesOf(header: MoveHeader, rows: AsyncIterable<readonly string[]>) {
  const hash = createHash('sha256');
  const noted = (lines: readonly string[]): string => {
    const text = lines.map((line) => `${line}\n`).join('');
    hash.update(text);
    return text;
  };
  yield noted([JSON.stringify({ object: OBJECT, version: VERSION, ...header })]);
  for await (const lines of rows) {
    if (lines.some((line) => Buffer.byteLength(line) > MAX_LINE_BYTES)) {
      throw new AccountMoveError(`A row of the account is longer than ${MAX_LINE_BYTES} bytes.`);
    }
    yield noted(lines);
  }
  yield `${JSON.stringify({ sha256: hash.digest('hex') })}\n`;
}

/**
 * Reads a file of {@link writeMoveFile} in batches of rows, and returns its header when the last line has proven all of it. Throws
 * {@link AccountMoveError} for a file that is none, or not whole, or was changed: what was taken until then is worth nothing.
 */
export async function readMoveFile(
  file: string,
  reader: MoveReader,
  signal: AbortSignal,
): Promise<MoveHeader> {
  const lines = new MoveLines(reader);
  // What the pipeline reports of a reader that gave up is only that it was ended.
  let refusal: unknown;
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      await lines.add(chunk).catch((error: unknown) => {
        refusal = error;
        throw error;
      });
    }
  };
  try {
    await pipeline(createReadStream(file), createGunzip(), read, { signal });
    return lines.end();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw refusalOf(file, refusal ?? error);
  }
}

function refusalOf(file: string, error: unknown): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof AccountMoveError) return error;
  if (code.startsWith('Z_')) return notWhole(`it is not compressed as it was written (${code})`);
  if (['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EPERM'].includes(code)) {
    return new AccountMoveError(`${file} cannot be read (${code}).`);
  }
  return new Error(message, { cause: error });
}

/** The lines of a file as its bytes arrive. */
class MoveLines {
  private readonly hash = createHash('sha256');
  private rest: Buffer[] = [];
  private restBytes = 0;
  private header: MoveHeader | undefined;
  private batch: string[] = [];
  private batchBytes = 0;
  private rows = 0;
  private isEnded = false;

  constructor(private readonly reader: MoveReader) {}

  async add(chunk: Buffer): Promise<void> {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.rest, chunk.subarray(from, at)]);
      this.rest = [];
      this.restBytes = 0;
      from = at + 1;
      await this.line(line);
    }
    if (from === chunk.length) return;
    this.rest.push(chunk.subarray(from));
    this.restBytes += chunk.length - from;
    if (this.restBytes > MAX_LINE_BYTES) throw notWhole('a line is too long');
  }

  end(): MoveHeader {
    if (!this.isEnded || this.restBytes > 0 || this.header === undefined) {
      throw notWhole('its end is missing');
    }
    const expected = Object.values(this.header.counts).reduce((sum, count) => sum + count, 0);
    if (this.rows !== expected) throw notWhole(`it has ${this.rows} rows and not ${expected}`);
    return this.header;
  }

  private async line(bytes: Buffer): Promise<void> {
    if (this.isEnded) throw notWhole('it goes on behind its end');
    const text = bytes.toString('utf8');
    if (this.header === undefined) {
      this.header = headerOf(text);
      this.reader.begin(this.header);
    } else if (text.startsWith('{"sha256":')) {
      await this.flush();
      this.proveBy(text);
      return;
    } else {
      this.rows += 1;
      this.batch.push(text);
      this.batchBytes += bytes.length;
    }
    this.hash.update(bytes).update('\n');
    if (this.batch.length >= BATCH_ROWS || this.batchBytes >= BATCH_BYTES) await this.flush();
  }

  private async flush(): Promise<void> {
    if (this.batch.length > 0) await this.reader.take(this.batch);
    this.batch = [];
    this.batchBytes = 0;
  }

  private proveBy(text: string): void {
    const { sha256 } = jsonOf(text);
    if (sha256 !== this.hash.digest('hex')) throw notWhole('its SHA-256 is another');
    this.isEnded = true;
  }
}

function headerOf(text: string): MoveHeader {
  const { object, version, ...header } = jsonOf(text);
  if (object !== OBJECT) throw new AccountMoveError('The file is no account of account:export.');
  if (version !== VERSION) {
    throw new AccountMoveError(
      `The file has version ${JSON.stringify(version)}, and this version of the gateway reads ${VERSION}.`,
    );
  }
  const texts = ['cell', 'from', 'migration', 'newest', 'hoursFrom', 'heldFrom'] as const;
  const { id, receiptKey, accountId, posted, counts } = header;
  const isWhole =
    [id, accountId].every((uuid) => typeof uuid === 'string' && UUID.test(uuid)) &&
    typeof receiptKey === 'string' &&
    HEX_64.test(receiptKey) &&
    typeof posted === 'string' &&
    DIGITS.test(posted) &&
    texts.every((name) => typeof header[name] === 'string') &&
    isJsonObject(counts) &&
    Object.values(counts).every((count) => Number.isSafeInteger(count) && Number(count) >= 0);
  if (!isWhole) throw notWhole('its first line lacks something');
  return header as unknown as MoveHeader;
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Told as any other damage.
  }
  throw notWhole('a line is no JSON');
}

/** The file was cut or changed. */
export const notWhole = (why: string): AccountMoveError =>
  new AccountMoveError(
    `The file is not what account:export wrote: ${why}. Nothing was changed. Copy it again, or export again.`,
  );

async function rejectExisting(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found !== undefined) {
    throw new AccountMoveError(`${file} exists already; it was left as it is.`);
  }
}

import { isList } from '../follow-pages.js';
import type { OperatorRequest } from '../operator-request.js';
import type { AskedCell } from './open-cells.js';

/** Most pages that are read again to find the row behind which a list goes on. */
const MAX_PAGES_AGAIN = 100;

/** A row of a list, or any other answer. */
export type Row = Readonly<Record<string, unknown>>;

/** The cells make no answer together. The message is for the operator. */
export class CellsError extends Error {}

/** One of them does not. */
export const faultIn = ({ name }: AskedCell, reason: string): CellsError =>
  new CellsError(`${name}: ${reason}`);

/** The answer of a cell; undefined where it knows none of the names. Throws {@link CellsError}. */
export async function cellAnswerOf(
  cell: AskedCell,
  request: OperatorRequest,
): Promise<Row | undefined> {
  const reply = await cell.ask(request);
  if ('answer' in reply) return { cell: cell.name, ...(reply.answer as Row) };
  if ('error' in reply && reply.isUnknown === true) return undefined;
  if ('error' in reply) throw faultIn(cell, reply.error);
  throw faultIn(cell, 'usage' in reply ? reply.usage : 'It did not answer.');
}

/** Where the list of a cell goes on: in the page of this cursor, from the row with this id. Null: it has ended. */
export type Place = readonly [cursor: string | null, next: string | null] | null;

/** The rows of one cell in its order, read page by page as they are taken. Each has the name of its cell. */
export class CellRows {
  private rows: Row[] = [];
  private nextCursor: string | null = null;
  private cursor: string | null;
  private isBegun = false;
  /** Whether the cell knows none of the names in the command. Such a list has no row. */
  isUnknown = false;

  constructor(
    private readonly cell: AskedCell,
    private readonly request: OperatorRequest,
    private readonly begin: NonNullable<Place>,
  ) {
    [this.cursor] = begin;
  }

  /** The next row, which stays the next one; undefined at the end. Throws {@link CellsError}. */
  async head(): Promise<Row | undefined> {
    if (!this.isBegun) await this.findPlace();
    while (this.rows.length === 0 && this.nextCursor !== null) await this.turnPage();
    return this.rows[0];
  }

  /** Takes the next row. */
  take(): void {
    this.rows.shift();
  }

  /** Where the rest begins. Call it after `head`. */
  get place(): Place {
    const [next] = this.rows;
    return next === undefined ? null : [this.cursor, String(next.id)];
  }

  /** The row may be on a later page by now, because newer ones came before it. */
  private async findPlace(): Promise<void> {
    this.isBegun = true;
    const [, next] = this.begin;
    await this.readPage();
    for (let pages = 1; next !== null; pages += 1) {
      const index = this.rows.findIndex(({ id }) => id === next);
      if (index >= 0) {
        this.rows.splice(0, index);
        return;
      }
      if (this.nextCursor === null || pages === MAX_PAGES_AGAIN) {
        throw faultIn(this.cell, 'The list has changed. Begin it again, without --cursor.');
      }
      await this.turnPage();
    }
  }

  private turnPage(): Promise<void> {
    this.cursor = this.nextCursor;
    return this.readPage();
  }

  private async readPage(): Promise<void> {
    const options = this.cursor === null ? {} : { cursor: this.cursor };
    const request = { ...this.request, options: { ...this.request.options, ...options } };
    const answer = await cellAnswerOf(this.cell, request);
    if (answer !== undefined && !isList(answer)) throw faultIn(this.cell, 'It gave no list.');
    this.isUnknown = answer === undefined;
    const rows = (answer?.data ?? []) as readonly Row[];
    this.rows = rows.map((row) => ({ cell: this.cell.name, ...row }));
    this.nextCursor = answer?.next_cursor ?? null;
  }
}

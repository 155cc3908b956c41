import type { DataSource } from 'typeorm';
import { cursorOf, type Page, type PageRequest } from '../../common/paging/page.js';
import { transaction } from './transaction.js';

/** Most rows that one page reads. If a filter without an index needs more, `nextCursor` continues there. */
export const MAX_SCANNED_ROWS = 10_000;
/**
 * A page ends before the row that follows this many stored bytes, so that a few huge results are not read at once. It has
 * one row at least. Values are counted as they are stored.
 */
export const MAX_STORED_BYTES = 2 * 1024 * 1024;
/**
 * The time in an id (a gateway's clock) may differ by this much from `created_at` (the database's clock at the commit).
 */
const CLOCK_SLACK_MS = 60_000;

/**
 * The rows must be read in the order of an index: a plan that first collects all matching rows gets slower as the table
 * grows.
 */
const IN_ORDER = `
  SELECT set_config(name, 'off', true) FROM unnest('{enable_sort,enable_incremental_sort,enable_seqscan,enable_bitmapscan}'::text[]) name`;

/** No UUID is below it, and none is above the other. */
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
export const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** No `position` is above it. */
export const HIGHEST_POSITION = '9223372036854775807';

/** The rows of a table in the order of one of its indexes. */
export interface IndexScan<Filter> {
  /** What follows FROM. Every column has a name of its own. */
  readonly table: string;
  readonly filter: Filter;
  /** The comparison of each filter. An absent filter is not applied. */
  readonly comparisons: readonly (readonly [keyof Filter, string])[];
  /**
   * The columns with which an index of the table begins, in its order, and their values. `by` follows them in the
   * index.
   */
  readonly lead: readonly (readonly [string, string])[];
  /** The column that orders the rows by time. Cursors are its values. */
  readonly by: 'id' | 'position';
  /** Only rows below this value of `by` are read. */
  readonly newest: string;
  /** Only rows from this value of `by` on are read. */
  readonly oldest: string;
  /** The values of `lead` down to which rows are read, where the scan goes over several; the cursors then name them. */
  readonly oldestLead?: readonly string[];
  /** One more condition for every row, as SQL without parameters, such as that of a partial index. */
  readonly guard?: string;
  /** The columns that may be large; null counts as nothing. */
  readonly large?: readonly string[];
}

/** A list of rows whose ids are ordered by time. */
export interface Listing<Filter> extends Omit<
  IndexScan<Filter>,
  'table' | 'by' | 'newest' | 'oldest'
> {
  readonly table: 'execution' | 'task';
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

interface Scanned {
  readonly is_match: boolean;
  readonly place: string;
  readonly goes_on: boolean;
  readonly [column: string]: unknown;
}

/**
 * A page of the matching rows, newest first, read from one index: at most 10,000 rows, whatever the filters are. Rows
 * are compared as rows, not column by column, so that the planner can use no other index. `itemOf` takes a row of the
 * table. Throws 400 invalid_request for an invalid cursor.
 */
export async function keysetPage<Filter, Item>(
  dataSource: DataSource,
  listing: Listing<Filter>,
  page: PageRequest,
  itemOf: (row: never) => Item,
): Promise<Page<Item>> {
  const bounds = boundsOf(listing, cursorOf(page, 'uuid'));
  return pageOfScan(dataSource, { ...listing, by: 'id', ...bounds }, page.limit, itemOf);
}

/**
 * A page of at most `limit` matching rows, newest first, among the next 10,000 rows of the scan; fewer where their values
 * are large.
 */
export async function pageOfScan<Filter, Item>(
  dataSource: DataSource,
  scan: IndexScan<Filter>,
  limit: number,
  itemOf: (row: never) => Item,
): Promise<Page<Item>> {
  const { text, values } = statementOf(scan, limit);
  const rows = await transaction(dataSource, async (manager) => {
    await manager.query(IN_ORDER);
    return manager.query<Scanned[]>(text, values);
  });
  const last = rows.at(-1);
  const goesOn = last?.goes_on === true || last?.place === String(MAX_SCANNED_ROWS);
  return {
    items: rows.filter((row) => row.is_match).map((row) => itemOf(row as never)),
    nextCursor: goesOn ? cursorTo(last, scan) : null,
  };
}

/** The value of `by`, behind those of `lead` where the scan goes over several. */
function cursorTo<Filter>(row: Scanned, { lead, by, oldestLead }: IndexScan<Filter>): string {
  const columns = oldestLead === undefined ? [by] : [...lead.map(([column]) => column), by];
  return columns.map((column) => String(row[column])).join('.');
}

function statementOf<Filter>(
  {
    table,
    filter,
    comparisons,
    lead,
    by,
    newest,
    oldest,
    oldestLead = lead.map(([, value]) => value),
    guard = 'true',
    large = [],
  }: IndexScan<Filter>,
  limit: number,
): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const matches = comparisons.flatMap(([name, comparison]) =>
    filter[name] === undefined ? [] : [`${comparison} ${parameter(filter[name])}`],
  );
  const columns = [...lead.map(([column]) => column), by];
  const order = columns.map((column) => `${column} DESC`).join(', ');
  const edge = (...bounds: readonly string[]) => bounds.map(parameter).join(', ');
  const newestLead = lead.map(([, value]) => value);
  // pg_column_size does not read a value that is stored apart from its row.
  const bytes = large.map((column) => `coalesce(pg_column_size(${column}), 0)`).join(' + ') || '0';
  const text = `
    SELECT * FROM (
      SELECT *, coalesce(sum(${bytes}) OVER earlier, 0) AS bytes_before, lead(true, 1, false) OVER earlier AS goes_on
        FROM (
          SELECT *, ${matches.join(' AND ') || 'true'} AS is_match, row_number() OVER (ORDER BY ${order}) AS place
            FROM ${table}
           WHERE (${columns.join(', ')}) < (${edge(...newestLead, newest)}) AND (${columns.join(', ')}) >= (${edge(...oldestLead, oldest)})
             AND ${guard}
           ORDER BY ${order} LIMIT ${MAX_SCANNED_ROWS}) scanned
       WHERE is_match OR place = ${MAX_SCANNED_ROWS}
      WINDOW earlier AS (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) found
     WHERE bytes_before < ${MAX_STORED_BYTES}
     ORDER BY ${order} LIMIT ${parameter(limit)}`;
  return { text, values };
}

/** The ids between which all rows of those times are, without the upper end. */
function boundsOf(
  {
    createdAfter,
    createdBefore,
  }: { createdAfter?: Date | undefined; createdBefore?: Date | undefined },
  cursor: string | null,
): { newest: string; oldest: string } {
  const before = createdBefore && idAt(createdBefore.getTime() + CLOCK_SLACK_MS);
  const newest = [cursor, before].reduce<string>(
    (least, id) => (id != null && id < least ? id : least),
    HIGHEST_ID,
  );
  const oldest = createdAfter ? idAt(createdAfter.getTime() - CLOCK_SLACK_MS) : LOWEST_ID;
  return { newest, oldest };
}

/** The smallest id of that time. */
function idAt(timeMs: number): string {
  const time = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${LOWEST_ID.slice(13)}`;
}

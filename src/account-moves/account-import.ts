import type { DataSource, EntityManager } from 'typeorm';
import type { AuditReport } from '../billing/audit/audit.js';
import { auditBooksIn } from '../billing/audit/usage-audit.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { sqlStateOf } from '../platform/database/database-errors.js';
import { columnsOf, LAST_MIGRATION } from './account-export.js';
import { deleteRows, rejectFindings } from './account-leave.js';
import { type Cell, cellIn } from './cell-id.js';
import { type MoveHeader, notWhole, readMoveFile } from './move-file.js';
import { type MoveOutcome, receiptOf } from './move-receipt.js';
import {
  AccountMoveError,
  MOVE_WAITS,
  type MoveWaits,
  onOneSnapshot,
  STAGED,
  waitUntilFolded,
  withMoveSession,
} from './move-session.js';
import { MOVED_TABLES, type MovedTable } from './moved-tables.js';
import { addToEverybody } from './usage-of-everybody.js';

/**
 * How far a sequence of positions is set beyond the highest position that came: more than other sessions draw from it between the two
 * moments in which it is read and set.
 */
const POSITION_GAP = 1_000_000;
/** Tables with a sequence of positions, by which the entries and runs of an account are ordered. */
const POSITIONED = ['ledger_entry', 'run'] as const;
const BAD_JSON = '22P02';

const STAGE = `
  INSERT INTO ${STAGED} (table_name, row)
    SELECT line->>'table', line->'row' FROM (SELECT l.text::json AS line FROM unnest($1::text[]) WITH ORDINALITY l (text, nth)
     ORDER BY l.nth) l`;
const FOREIGN_ROWS = `
  SELECT count(*)::int AS rows FROM ${STAGED} s
   WHERE CASE s.table_name WHEN 'account' THEN s.row->>'id' ELSE s.row->>'account_id' END <> $1`;
const COUNTS = `SELECT table_name AS name, count(*)::int AS rows FROM ${STAGED} GROUP BY 1`;
const DECIDED = `SELECT outcome, direction, ended_at::text FROM account_move WHERE id = $1`;
const DECIDE = `
  INSERT INTO account_move (id, account_id, direction, cell, receipt_key, actor, outcome, ended_at)
    VALUES ($1, $2, 'in', $3, $4, $5, $6, now())`;
/** An account that has left this cell may come back. */
const FORMER = `
  SELECT leaving IS NOT NULL AND NOT EXISTS (
           SELECT FROM account_move m WHERE m.account_id = a.id AND m.outcome IS NULL) AS has_left
    FROM account a WHERE id = $1 FOR UPDATE`;
const UNKNOWN_BOOK = `
  SELECT s.row->>'price_book' AS name FROM ${STAGED} s
   WHERE s.table_name = 'account' AND s.row->>'price_book' IS NOT NULL
     AND NOT EXISTS (SELECT FROM price_book WHERE id = s.row->>'price_book')`;
const RAISE_STARTS = `
  UPDATE usage_state SET hours_from = greatest(hours_from, $1::timestamptz), held_from = greatest(held_from, $2::timestamptz)`;
const raisePositions = (table: string): string => `
  SELECT setval(pg_get_serial_sequence('${table}', 'position'), t.highest + ${POSITION_GAP})
    FROM (SELECT max(position) AS highest FROM ${table} WHERE account_id = $1) t
   WHERE t.highest > coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', 'position')::regclass), 0)`;

/** Which file is imported, and by whom. */
export interface ImportRequest {
  readonly file: string;
  readonly actor: string;
}

/** How this cell decided a move. */
export interface ImportReport {
  readonly header: MoveHeader;
  readonly outcome: MoveOutcome;
  /** For `account:export --receipt` in the former cell. */
  readonly receipt: string;
  /** Of this cell, full; undefined where nothing was imported. */
  readonly audit: AuditReport | undefined;
}

interface ImportTerms {
  readonly signal: AbortSignal;
  readonly waits?: MoveWaits;
}

/**
 * Adds the account of a file to this cell, disabled and with revoked keys: all of it in one transaction, which ends with a full audit of
 * all books. Throws {@link AccountMoveError} for a file that is not whole or not for this cell, for a move that was decided before, and
 * for an account that is here. Then nothing is changed.
 */
export async function importAccount(
  config: GatewayConfig,
  { file, actor }: ImportRequest,
  { signal, waits = MOVE_WAITS }: ImportTerms,
): Promise<ImportReport> {
  return withMoveSession(config, async (db, own) => {
    const header = await stageFile(db, own, file, signal);
    await waitUntilFolded(db, header, waits, signal);
    const audit = await orDecided(db, header, () =>
      onOneSnapshot(db, (manager) => write(manager, header, actor)),
    );
    return reportOf(header, 'imported', audit);
  });
}

/** Decides that the file of a move is never imported here, so that the account may stay where it is. Throws as {@link importAccount}. */
export async function refuseAccount(
  config: GatewayConfig,
  { file, actor }: ImportRequest,
  { signal }: ImportTerms,
): Promise<ImportReport> {
  return withMoveSession(config, async (db, own) => {
    const header = await stageFile(db, own, file, signal);
    await orDecided(db, header, () => decide(db, header, 'refused', actor));
    return reportOf(header, 'refused', undefined);
  });
}

const reportOf = (
  header: MoveHeader,
  outcome: MoveOutcome,
  audit: AuditReport | undefined,
): ImportReport => ({ header, outcome, receipt: receiptOf(header, outcome), audit });

/** Reads the file into the table of the session, and proves that it is whole, for this cell and this schema, and not decided yet. */
async function stageFile(
  db: DataSource,
  own: Cell,
  file: string,
  signal: AbortSignal,
): Promise<MoveHeader> {
  const begin = (header: MoveHeader): void => {
    rejectOther(header, own);
  };
  const take = async (lines: readonly string[]): Promise<void> => {
    await db.query(STAGE, [lines]).catch((error: unknown) => {
      // Also a line without a table or a row.
      const isOfText = [BAD_JSON, '23502', '22P05', '22021'].includes(sqlStateOf(error) ?? '');
      throw isOfText ? notWhole('a row cannot be read') : error;
    });
  };
  const header = await readMoveFile(file, { begin, take }, signal);
  await rejectDecided(db, header);
  await rejectRows(db, header);
  return header;
}

function rejectOther({ cell, migration }: MoveHeader, own: Cell): void {
  if (cellIn(cell)?.databaseId !== own.databaseId) {
    throw new AccountMoveError(
      `The file is for the cell ${cell}, and this database is that of ${own.id}. Nothing was changed.`,
    );
  }
  if (migration !== LAST_MIGRATION) {
    throw new AccountMoveError(
      `The file has the schema of ${migration}, and this cell that of ${LAST_MIGRATION}. Bring both cells to one version, then export again.`,
    );
  }
}

async function rejectDecided(db: DataSource, header: MoveHeader): Promise<void> {
  interface DecidedRow {
    readonly outcome: MoveOutcome | null;
    readonly direction: string;
    readonly ended_at: string | null;
  }
  const [row] = await db.query<DecidedRow[]>(DECIDED, [header.id]);
  if (row === undefined) return;
  if (row.direction === 'out' || row.outcome === null) {
    throw new AccountMoveError('The file was exported from this database: import it elsewhere.');
  }
  throw new AccountMoveError(
    `The file was ${row.outcome} here already, at ${row.ended_at}. Its receipt is ${receiptOf(header, row.outcome)}. Nothing was changed.`,
  );
}

async function rejectRows(db: DataSource, { accountId, counts }: MoveHeader): Promise<void> {
  const found = await db.query<{ name: string; rows: number }[]>(COUNTS);
  const known = new Set(MOVED_TABLES.map(({ name }) => name));
  const isOther = ({ name, rows }: { name: string; rows: number }) =>
    !known.has(name) || counts[name] !== rows;
  if (found.some(isOther) || counts.account !== 1) throw notWhole('the rows of a table are others');
  const [foreign] = await db.query<{ rows: number }[]>(FOREIGN_ROWS, [accountId]);
  if (foreign?.rows !== 0) throw notWhole('it has rows of another account');
}

/** Does the work; where another import decided the move meanwhile, says how. */
async function orDecided<T>(db: DataSource, header: MoveHeader, work: () => Promise<T>) {
  try {
    return await work();
  } catch (error) {
    await rejectDecided(db, header);
    throw error;
  }
}

function decide(
  db: DataSource | EntityManager,
  { id, accountId, cell, receiptKey }: MoveHeader,
  outcome: MoveOutcome,
  actor: string,
): Promise<unknown> {
  return db.query(DECIDE, [id, accountId, cell, receiptKey, actor, outcome]);
}

/** Writes the staged rows, in the caller's transaction. */
async function write(
  manager: EntityManager,
  header: MoveHeader,
  actor: string,
): Promise<AuditReport> {
  const { accountId, newest } = header;
  await manager.query(RAISE_STARTS, [header.hoursFrom, header.heldFrom]);
  const [folded] = await manager.query<{ has: boolean }[]>(
    'SELECT folded_until >= $1::timestamptz AS has FROM usage_state',
    [newest],
  );
  if (folded?.has !== true) throw new Error('The sums of usage went back');
  await decide(manager, header, 'imported', actor);
  await clearPlace(manager, accountId);
  for (const table of MOVED_TABLES) await writeRows(manager, table);
  await addToEverybody(manager, accountId);
  for (const table of POSITIONED) await manager.query(raisePositions(table), [accountId]);
  const audit = await auditBooksIn(manager, 'full');
  rejectFindings(audit);
  return audit;
}

/** Throws {@link AccountMoveError} where the account is in this cell, or what it needs is not. */
async function clearPlace(manager: EntityManager, accountId: string): Promise<void> {
  const [former] = await manager.query<{ has_left: boolean }[]>(FORMER, [accountId]);
  if (former?.has_left === false) {
    throw new AccountMoveError('The account is in this cell already. Nothing was changed.');
  }
  if (former) {
    // Processes of another version may have written to it since it left.
    await deleteRows(manager, accountId);
    await manager.query('DELETE FROM account WHERE id = $1', [accountId]);
  }
  const [book] = await manager.query<{ name: string }[]>(UNKNOWN_BOOK);
  if (book === undefined) return;
  throw new AccountMoveError(
    `The account pays by the price book ${book.name}, which this cell does not have. Make it here first; nothing was changed.`,
  );
}

async function writeRows(manager: EntityManager, table: MovedTable): Promise<void> {
  const { name, instead = {}, taken = 'true' } = table;
  const columns = await columnsOf(manager, name);
  const values = columns.map((column) => instead[column] ?? `r.${column}`);
  // A correction is held against its charge, which must be there before.
  const passes =
    name === 'ledger_entry' ? [`r.kind <> 'correction'`, `r.kind = 'correction'`] : [taken];
  for (const condition of passes) {
    await manager.query(
      `INSERT INTO ${name} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE
         SELECT ${values.join(', ')} FROM ${STAGED} s CROSS JOIN LATERAL json_populate_record(NULL::${name}, s.row) r
          WHERE s.table_name = '${name}' AND (${condition}) ORDER BY s.seq`,
    );
  }
}

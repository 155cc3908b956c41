import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import type { Clock } from '../common/time/clock.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { MIGRATIONS } from '../platform/database/migration-list.js';
import { type Cell, cellIn } from './cell-id.js';
import { type MoveHeader, writeMoveFile } from './move-file.js';
import { newReceiptKey } from './move-receipt.js';
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
import { rejectOpen, rejectPromised, waitUntilNothingIsOwed } from './open-work.js';

/** Most rows that are read at once. */
const PAGE_ROWS = 100;

const ACCOUNT = `
  SELECT disabled, leaving::text,
         (SELECT cell FROM account_move WHERE account_id = $1 AND outcome IS NULL) AS leaving_to
    FROM account WHERE id = $1`;
/** When the newest thing that usage counts happened. */
const NEWEST = `
  SELECT greatest('-infinity', (SELECT max(created_at) FROM execution WHERE account_id = $1),
                  (SELECT max(created_at) FROM task WHERE account_id = $1),
                  (SELECT max(created_at) FROM ledger_entry WHERE account_id = $1))::text AS newest`;
const LEFT = `
  SELECT count(*)::int AS files, coalesce(sum(size_bytes), 0)::text AS bytes,
         (SELECT count(*)::int FROM webhook_endpoint WHERE account_id = $1) AS endpoints
    FROM stored_file WHERE account_id = $1`;
const BEGIN = `
  INSERT INTO account_move (id, account_id, direction, cell, receipt_key, actor) VALUES ($2, $1, 'out', $3, $4, $5)
    ON CONFLICT (account_id) WHERE outcome IS NULL DO NOTHING`;
const BEGUN = `
  SELECT m.id, m.receipt_key, m.cell, a.posted::text, u.hours_from::text, u.held_from::text
    FROM account_move m JOIN account a ON a.id = m.account_id, usage_state u
   WHERE m.account_id = $1 AND m.outcome IS NULL`;
/** Closes the account. Its credits expire in the other cell, so nothing looks at them here. */
const CLOSE = `UPDATE account SET leaving = posted WHERE id = $1 AND leaving IS NULL`;
const REST_LOTS = `UPDATE credit_lot SET look_at = NULL WHERE account_id = $1 AND look_at IS NOT NULL`;
const PAGE = `
  SELECT s.seq::text, '{"table":"' || table_name || '","row":' || translate(row::text, E'\\n\\r', '  ') || '}' AS line
    FROM ${STAGED} s WHERE s.seq > $1 ORDER BY s.seq LIMIT ${PAGE_ROWS}`;

interface AccountState {
  readonly disabled: boolean;
  readonly leaving: string | null;
  readonly leaving_to: string | null;
}
interface BegunRow {
  readonly id: string;
  readonly receipt_key: string;
  readonly cell: string;
  readonly posted: string;
  readonly hours_from: string;
  readonly held_from: string;
}

/** What is exported, whereto, and who does it. */
export interface ExportRequest {
  readonly accountId: string;
  /** The id of the cell that will have it. */
  readonly cell: string;
  readonly file: string;
  readonly actor: string;
  /** Stored files, stored responses and kept answers that have not expired are left behind, and do not refuse the export. */
  readonly withoutContent?: boolean;
}

/** A finished export. */
export interface ExportReport {
  readonly header: MoveHeader;
  readonly file: string;
  readonly sizeBytes: number;
  /** What stays here and is not in the file: files in the STORAGE_URL, and endpoints of webhooks. */
  readonly storedFiles: number;
  readonly storedBytes: string;
  readonly webhookEndpoints: number;
}

/**
 * Closes an account for its move to another cell, and writes all that moves to a file. The account must be disabled with nothing
 * open, owed or promised. From then on it can be neither enabled nor charged nor credited here, until a receipt of the other cell ends the move. It may be
 * repeated until then, and is the same move. Throws {@link AccountMoveError}.
 */
export async function exportAccount(
  config: GatewayConfig,
  request: ExportRequest,
  { clock, signal, waits = MOVE_WAITS }: { clock: Clock; signal: AbortSignal; waits?: MoveWaits },
): Promise<ExportReport> {
  const { accountId, file } = request;
  const { dataDir } = config;
  return withMoveSession(config, async (db, own) => {
    rejectCell(request.cell, own);
    const { leaving } = await closedAccount(db, request);
    // A process takes calls of a key for some seconds after its account was closed.
    if (leaving === null) await sleep(waits.closedMs, undefined, { signal });
    await rejectOpen(db, accountId);
    if (request.withoutContent !== true) await rejectPromised(db, accountId);
    await waitUntilNothingIsOwed(db, { accountId, dataDir }, waits, signal);
    const [row] = await db.query<{ newest: string }[]>(NEWEST, [accountId]);
    const { newest } = row ?? { newest: '-infinity' };
    await waitUntilFolded(db, { newest, accountId }, waits, signal);
    const id = uuidV7(clock.nowMs());
    const header = await onOneSnapshot(db, (manager) =>
      stage(manager, request, { id, newest, own }),
    );
    const sizeBytes = await writeMoveFile(file, header, stagedLines(db), signal);
    return { header, file, sizeBytes, ...(await leftOf(db, accountId)) };
  });
}

async function leftOf(db: DataSource, accountId: string) {
  interface LeftRow {
    readonly files: number;
    readonly bytes: string;
    readonly endpoints: number;
  }
  const [row] = await db.query<LeftRow[]>(LEFT, [accountId]);
  return {
    storedFiles: row?.files ?? 0,
    storedBytes: row?.bytes ?? '0',
    webhookEndpoints: row?.endpoints ?? 0,
  };
}

function rejectCell(id: string, own: Cell): void {
  const cell = cellIn(id);
  if (cell === undefined) {
    throw new AccountMoveError(
      '--cell must be the id of the other cell, as account:cell prints it there: this is none, or is misspelt.',
    );
  }
  if (cell.databaseId === own.databaseId) {
    throw new AccountMoveError(
      '--cell names the cell of this database: run account:cell with the settings of the one that will have the account.',
    );
  }
}

const isSameCell = (one: string, other: string): boolean =>
  cellIn(one)?.databaseId === cellIn(other)?.databaseId;

/** The account as it is now, where it may be moved to the cell. */
async function closedAccount(
  db: DataSource | EntityManager,
  { accountId, cell }: ExportRequest,
  lock = '',
): Promise<AccountState> {
  const [state] = await db.query<AccountState[]>(`${ACCOUNT} ${lock}`, [accountId]);
  if (state === undefined) throw new AccountMoveError('There is no such account in this cell.');
  const { leaving, leaving_to: leavingTo } = state;
  if (leaving !== null && leavingTo === null) {
    throw new AccountMoveError('The account has moved to another cell already.');
  }
  if (leavingTo !== null && !isSameCell(leavingTo, cell)) {
    throw new AccountMoveError(
      `The account moves to the cell ${leavingTo} already. End that first: account:import --refuse there, then account:export --receipt here.`,
    );
  }
  if (!state.disabled) {
    throw new AccountMoveError(
      'The account is not disabled. Run account:update ACCOUNT --disabled true, wait until its tasks have ended, then export it.',
    );
  }
  return state;
}

/** Closes the account and stages its rows, in the caller's transaction. */
async function stage(
  manager: EntityManager,
  request: ExportRequest,
  { id, newest, own }: { readonly id: string; readonly newest: string; readonly own: Cell },
): Promise<MoveHeader> {
  const { accountId, cell, actor } = request;
  await closedAccount(manager, request, 'FOR UPDATE');
  // Whoever folds usage or drops old hours changes this row, so the sums stand still.
  await manager.query('SELECT FROM usage_state FOR UPDATE');
  await rejectOpen(manager, accountId);
  if (request.withoutContent !== true) await rejectPromised(manager, accountId);
  const [now] = await manager.query<{ newest: string }[]>(NEWEST, [accountId]);
  if (now?.newest !== newest) {
    throw new AccountMoveError(
      'Something was written to the account meanwhile. Run the command again.',
    );
  }
  await manager.query(BEGIN, [accountId, id, cell, newReceiptKey(), actor]);
  await manager.query(CLOSE, [accountId]);
  const counts: Record<string, number> = {};
  for (const table of MOVED_TABLES) counts[table.name] = await stageRows(manager, table, accountId);
  await manager.query(REST_LOTS, [accountId]);
  const [begun] = await manager.query<BegunRow[]>(BEGUN, [accountId]);
  if (begun === undefined) throw new Error('The move was not noted');
  return {
    ...{ id: begun.id, receiptKey: begun.receipt_key, accountId, cell: begun.cell, from: own.id },
    ...{ migration: LAST_MIGRATION, newest, posted: begun.posted, counts },
    ...{ hoursFrom: begun.hours_from, heldFrom: begun.held_from },
  };
}

/** The name of the last migration of this version. */
export const LAST_MIGRATION = MIGRATIONS.at(-1)?.name ?? '';

async function stageRows(
  manager: EntityManager,
  { name, order, instead = {}, where = 'account_id = $1' }: MovedTable,
  accountId: string,
): Promise<number> {
  const columns = await columnsOf(manager, name);
  const sent = columns.filter((column) => !(column in instead) || isRead(instead[column], column));
  await manager.query(
    `INSERT INTO ${STAGED} (table_name, row)
       SELECT '${name}', row_to_json(r) FROM (SELECT ${sent.join(', ')} FROM ${name} WHERE ${where}) r ORDER BY ${order}`,
    [accountId],
  );
  const [row] = await manager.query<{ rows: number }[]>(
    `SELECT count(*)::int AS rows FROM ${STAGED} WHERE table_name = $1`,
    [name],
  );
  return row?.rows ?? 0;
}

/** Whether the other cell makes its value of that of this cell. */
const isRead = (expression = '', column: string): boolean => expression.includes(`r.${column}`);

/** The columns of a table in their order, quoted. */
export async function columnsOf(manager: EntityManager, table: string): Promise<string[]> {
  const rows = await manager.query<{ name: string }[]>(
    `SELECT quote_ident(attname) AS name FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** The staged rows as lines, in their order. */
async function* stagedLines(db: DataSource): AsyncGenerator<readonly string[]> {
  for (let last = '0'; ;) {
    const page = await db.query<{ seq: string; line: string }[]>(PAGE, [last]);
    if (page.length === 0) return;
    yield page.map(({ line }) => line);
    last = page.at(-1)?.seq ?? last;
  }
}

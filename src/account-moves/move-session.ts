import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { AUDIT_TURN } from '../billing/audit/audit.js';
import { createDataSource, maintenanceConnectionOf } from '../platform/database/data-source.js';
import { sqlStateOf } from '../platform/database/database-errors.js';
import { findPooler } from '../platform/database/pooler.js';
import { pendingChanges } from '../platform/database/run-migrations.js';
import { SESSION_SETTINGS } from '../platform/database/session-settings.js';
import { transaction } from '../platform/database/transaction.js';
import { type Cell, thisCell } from './cell-id.js';

/** A move was refused, and nothing was changed. The message is a sentence for the operator. */
export class AccountMoveError extends Error {
  override readonly name = 'AccountMoveError';
}

const OWNS = `SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = 'public.account'::regclass`;
/** The rows of the account between the database and the file, in a table of this session. */
export const STAGED = 'moved_row';
const CREATE_STAGED = `
  CREATE TEMPORARY TABLE ${STAGED} (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, table_name text NOT NULL, row json NOT NULL)`;

/** How a move waits; tests wait less. Times are in milliseconds. */
export interface MoveWaits {
  /** From when the account was seen to be closed until no process takes a call of it: longer than processes remember keys. */
  readonly closedMs: number;
  /** As the margin of `usage_fold`. */
  readonly foldMarginMs: number;
  /** Longest wait until usage has the sums of everything. */
  readonly foldedMs: number;
  /** Longest wait until nothing is owed to the account: longer than processes take to say that an open call has ended. */
  readonly owedMs: number;
}

export const MOVE_WAITS: MoveWaits = {
  closedMs: 5_000,
  foldMarginMs: 10_000,
  foldedMs: 120_000,
  owedMs: 120_000,
};

/** Serialization failure and deadlock, as {@link transaction} repeats them. */
const BEATEN: ReadonlySet<string> = new Set(['40001', '40P01']);
/** From one look at what is waited for to the next, in milliseconds. */
export const LOOK_AGAIN_MS = 1_000;
/** The time that one call of `usage_fold` reads. */
const FOLD_SPAN_MS = 600_000;
const FOLD = `
  SELECT is_behind FROM usage_fold($1 * interval '1 millisecond', $2 * interval '1 millisecond')`;
const IS_FOLDED = `
  SELECT folded_until >= $1::timestamptz AND NOT EXISTS (SELECT FROM usage_pending WHERE account_id = $2) AS is_folded
    FROM usage_state`;

type MoveConfig = Pick<GatewayConfig, 'databaseUrl' | 'migrationDatabaseUrl' | 'cell'>;

/**
 * Does the work over one connection of the owner of the tables, whose session has the empty table {@link STAGED}; `own` is this cell. Throws
 * {@link AccountMoveError} for the embedded database, for a schema of another version, behind a pooler in transaction mode, and for a
 * role that does not own the tables.
 */
export async function withMoveSession<T>(
  config: MoveConfig,
  work: (db: DataSource, own: Cell) => Promise<T>,
): Promise<T> {
  const url = config.migrationDatabaseUrl ?? config.databaseUrl;
  if (url === undefined) {
    throw new AccountMoveError(
      'DATABASE_URL must name the database of the cell: an account in an embedded database cannot be moved.',
    );
  }
  // Found by trial, because DATABASE_POOLER tells of DATABASE_URL only.
  if ((await findPooler(url, 'auto')) !== 'none') {
    throw new AccountMoveError(
      'A pooler in transaction mode is in front of the database. Set MIGRATION_DATABASE_URL to the database itself, as the owner of the tables.',
    );
  }
  const options = { url, poolSize: 1, applicationName: 'shim-account-move' };
  const lasting = maintenanceConnectionOf(createDataSource(options));
  // The staged rows are gone with the session, which a slow disk may leave idle.
  lasting.setOptions({ extra: { ...(lasting.options.extra as object), idleTimeoutMillis: 0 } });
  const db = await lasting.initialize();
  try {
    const { names } = await pendingChanges(db);
    if (names.length > 0) {
      throw new AccountMoveError(
        `The database lacks ${names.join(', ')}. Run the command migrate of this version, then this command again.`,
      );
    }
    const [role] = await db.query<{ owns: boolean }[]>(OWNS);
    if (role?.owns !== true) {
      throw new AccountMoveError(
        'The role of this connection does not own the tables. Set MIGRATION_DATABASE_URL to that of the owner.',
      );
    }
    await db.query(CREATE_STAGED);
    await db.query(`CREATE INDEX ON ${STAGED} (table_name, seq)`);
    return await work(db, await thisCell(db, config.cell));
  } finally {
    await db.destroy();
  }
}

/** The cell of the database, by which an export elsewhere names it. Throws as {@link withMoveSession}. */
export const readCell = (config: MoveConfig): Promise<Cell> =>
  withMoveSession(config, (_db, own) => Promise.resolve(own));

/**
 * One transaction on one snapshot, without the time limits of normal work; see {@link transaction}. It takes its turn among audits
 * before its snapshot, because the audit at its end writes what theirs do: behind the snapshot it could only fail after the wait.
 * Throws {@link AccountMoveError} where other work came first each time.
 */
export function onOneSnapshot<T>(
  db: DataSource,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const patiently = async (manager: EntityManager): Promise<T> => {
    await manager.query(SESSION_SETTINGS.patience);
    await manager.query(AUDIT_TURN);
    return work(manager);
  };
  return transaction(db, patiently, 'REPEATABLE READ').catch((error: unknown) => {
    if (!BEATEN.has(sqlStateOf(error) ?? '')) throw error;
    throw new AccountMoveError(
      'Other work changed the same rows meanwhile. Nothing was changed; run it again.',
    );
  });
}

/**
 * Waits until the sums of usage have everything until `newest`, a time in text, and nothing of the account is left out. It also adds by
 * itself, so that no gateway need run. Throws {@link AccountMoveError} after the wait.
 */
export async function waitUntilFolded(
  db: DataSource,
  { newest, accountId }: { readonly newest: string; readonly accountId: string },
  waits: MoveWaits,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + waits.foldedMs;
  for (;;) {
    signal.throwIfAborted();
    const [state] = await db.query<{ is_folded: boolean }[]>(IS_FOLDED, [newest, accountId]);
    if (state?.is_folded === true) return;
    const [row] = await db.query<{ is_behind: boolean }[]>(FOLD, [
      FOLD_SPAN_MS,
      waits.foldMarginMs,
    ]);
    if (performance.now() > deadline) {
      throw new AccountMoveError(
        'The sums of usage do not have all calls yet. Run the command again in a minute; if it says this again, see whether a transaction is open for long.',
      );
    }
    if (row?.is_behind !== true) await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

/** Counts of the database so far, for the table of calls and for its log. */
interface Costs {
  readonly calls: number;
  readonly updates: number;
  readonly inPlace: number;
  readonly logBytes: number;
}

/** The counts as they are now. */
export async function costs(dataSource: DataSource): Promise<Costs> {
  await dataSource.query('SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()');
  // Each session reports what it did within a second of its last statement.
  await sleep(1_500);
  const [row] = await dataSource.query<Record<keyof Costs, string>[]>(
    `SELECT n_tup_ins AS calls, n_tup_upd AS updates, n_tup_hot_upd AS "inPlace",
            pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS "logBytes"
       FROM pg_stat_user_tables WHERE relname = 'execution'`,
  );
  return {
    calls: Number(row?.calls),
    updates: Number(row?.updates),
    inPlace: Number(row?.inPlace),
    logBytes: Number(row?.logBytes),
  };
}

/** Bytes that a call writes to the log, between two counts. */
export function logBytesPerCall(before: Costs, after: Costs): number {
  return (after.logBytes - before.logBytes) / (after.calls - before.calls);
}

/** Entries that a call writes into indexes: one per index that holds its rows, and once more for a row that moves. */
export async function indexEntriesPerCall(dataSource: DataSource, moved: number): Promise<number> {
  const [row] = await dataSource.query<{ execution: string; entry: string }[]>(
    `SELECT count(*) FILTER (WHERE c.relname = 'execution' AND pg_get_expr(i.indpred, i.indrelid) IS NULL) AS execution,
            count(*) FILTER (WHERE c.relname = 'ledger_entry'
              AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) LIKE '%= ''charge''%')) AS entry
       FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam AND a.amname = 'btree'`,
  );
  return Number(row?.execution) * (1 + moved) + Number(row?.entry);
}

import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';

/** The last audit, and the sums of all accounts as they are now. */
export interface BookState {
  /** Null before the first audit. */
  readonly isOk: boolean | null;
  readonly auditedAt: Date | null;
  /** The sum of all entries that audits without a finding have read. */
  readonly auditedMicroUsd: MicroUsd;
  readonly accounts: number;
  readonly postedMicroUsd: MicroUsd;
  readonly heldMicroUsd: MicroUsd;
  /** As the last sweep found them. */
  readonly openCalls: number;
  readonly oldestCallAgeSeconds: number | null;
}

interface StateRow {
  readonly ok: boolean | null;
  readonly finished_at: Date | null;
  readonly entries: string;
  readonly accounts: number;
  readonly posted: string;
  readonly held: string;
  readonly open_calls: number;
  readonly oldest_age: number | null;
}

// One row per account is read, and none per entry or call.
const STATE = `
  SELECT s.ok, s.finished_at, (SELECT coalesce(sum(entries), 0) FROM audit_checkpoint) AS entries,
         a.accounts, a.posted, a.held, l.open_calls,
         CASE WHEN l.oldest_open_at IS NOT NULL
              THEN greatest(0, extract(epoch FROM now() - l.oldest_open_at))::float8 END AS oldest_age
    FROM audit_state s, call_look l,
         (SELECT count(*)::int AS accounts, coalesce(sum(posted), 0) AS posted, coalesce(sum(held), 0) AS held FROM account) a`;

/** Reads the state of the books, without auditing them. */
export async function readBookState(dataSource: DataSource): Promise<BookState> {
  const [row] = await dataSource.query<[StateRow]>(STATE);
  return {
    isOk: row.ok,
    auditedAt: row.finished_at,
    auditedMicroUsd: BigInt(row.entries),
    accounts: row.accounts,
    postedMicroUsd: BigInt(row.posted),
    heldMicroUsd: BigInt(row.held),
    openCalls: row.open_calls,
    oldestCallAgeSeconds: row.oldest_age,
  };
}

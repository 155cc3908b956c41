import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../common/money/micro-usd.js';

const MAX_DISCREPANCIES = 100;
/** The audit reads every entry and hold, so it may take longer than normal work. */
const AUDIT_TIMEOUT_MS = 600_000;

/** One broken rule, in words, with the account it concerns. */
export interface Discrepancy {
  readonly accountId: string;
  readonly rule: string;
  readonly detail: string;
}

/** What an audit found; sums are over all accounts. */
export interface AuditReport {
  readonly ok: boolean;
  readonly accounts: number;
  readonly postedMicroUsd: MicroUsd;
  readonly entriesMicroUsd: MicroUsd;
  readonly heldMicroUsd: MicroUsd;
  readonly openHoldsMicroUsd: MicroUsd;
  /** The first 100. */
  readonly discrepancies: readonly Discrepancy[];
}

const TOTALS = `
  SELECT (SELECT count(*) FROM account) AS accounts,
         (SELECT coalesce(sum(posted), 0) FROM account) AS posted,
         (SELECT coalesce(sum(held), 0) FROM account) AS held,
         (SELECT coalesce(sum(amount), 0) FROM ledger_entry) AS entries,
         (SELECT coalesce(sum(amount), 0) FROM hold WHERE state = 'open')
         + (SELECT coalesce(sum(held), 0) FROM execution WHERE status = 'running') AS open_holds`;

const DISCREPANCIES = `
  WITH entries AS (SELECT account_id, sum(amount) AS total FROM ledger_entry GROUP BY account_id),
       open AS (
         SELECT account_id, amount FROM hold WHERE state = 'open'
         UNION ALL SELECT account_id, held FROM execution WHERE status = 'running'),
       holds AS (SELECT account_id, sum(amount) AS total FROM open GROUP BY account_id),
       ids AS (SELECT id FROM account UNION SELECT account_id FROM entries UNION SELECT account_id FROM holds),
       sums AS (
         SELECT ids.id, a.posted, a.held, coalesce(e.total, 0) AS entries, coalesce(h.total, 0) AS open_holds
           FROM ids LEFT JOIN account a USING (id)
           LEFT JOIN entries e ON e.account_id = ids.id LEFT JOIN holds h ON h.account_id = ids.id),
       chain AS (
         SELECT account_id, position, balance_after,
                coalesce(lag(balance_after) OVER (PARTITION BY account_id ORDER BY position), 0) + amount AS expected
           FROM ledger_entry),
       charges AS (
         SELECT account_id, hold_id AS id, count(*) AS times, -sum(amount) AS total
           FROM ledger_entry charge WHERE kind = 'charge'
            AND NOT EXISTS (SELECT FROM ledger_entry WHERE kind = 'correction' AND reference = 'reversal'
                              AND account_id = charge.account_id AND hold_id = charge.hold_id)
          GROUP BY account_id, hold_id),
       settled AS (
         SELECT account_id, id, settled_amount FROM hold WHERE state = 'settled' AND settled_amount > 0
         UNION ALL SELECT account_id, id, charged FROM execution WHERE charged > 0)
  SELECT id AS account_id, 'the account exists' AS rule, '' AS detail FROM sums WHERE posted IS NULL
  UNION ALL
  SELECT id, 'posted is the sum of entries', posted || ' against ' || entries FROM sums WHERE posted <> entries
  UNION ALL
  SELECT id, 'held is the sum of open holds', held || ' against ' || open_holds FROM sums WHERE held <> open_holds
  UNION ALL
  SELECT id, 'nothing is negative', posted || ' posted, ' || held || ' held' FROM sums
   WHERE posted < 0 OR held < 0 OR held > posted
  UNION ALL
  SELECT account_id, 'balance_after continues the entry before', 'entry ' || position || ': ' || balance_after || ' against ' || expected
    FROM chain WHERE balance_after <> expected
  UNION ALL
  SELECT account_id, 'every settled hold has one charge of its amount', 'hold ' || id
    FROM charges FULL JOIN settled USING (account_id, id)
   WHERE times IS DISTINCT FROM 1 OR total IS DISTINCT FROM settled_amount
  LIMIT ${MAX_DISCREPANCIES}`;

interface TotalsRow {
  readonly accounts: string;
  readonly posted: string;
  readonly held: string;
  readonly entries: string;
  readonly open_holds: string;
}
interface DiscrepancyRow {
  readonly account_id: string;
  readonly rule: string;
  readonly detail: string;
}

/** Proves the books over one consistent snapshot: sums, chains, one outcome per hold (architecture: Money). */
export function auditLedger(dataSource: DataSource): Promise<AuditReport> {
  return dataSource.transaction('REPEATABLE READ', async (manager) => {
    await manager.query(`SET TRANSACTION READ ONLY`);
    await manager.query(`SET LOCAL statement_timeout = ${AUDIT_TIMEOUT_MS}`);
    const [totals] = await manager.query<TotalsRow[]>(TOTALS);
    const rows = await manager.query<DiscrepancyRow[]>(DISCREPANCIES);
    assert(totals !== undefined, 'an aggregate answers one row');
    return {
      ok: rows.length === 0,
      accounts: Number(totals.accounts),
      postedMicroUsd: BigInt(totals.posted),
      entriesMicroUsd: BigInt(totals.entries),
      heldMicroUsd: BigInt(totals.held),
      openHoldsMicroUsd: BigInt(totals.open_holds),
      discrepancies: rows.map((row) => ({
        accountId: row.account_id,
        rule: row.rule,
        detail: row.detail,
      })),
    };
  });
}

import type { EntityManager } from 'typeorm';
import type { AuditReport } from '../billing/audit/audit.js';
import { auditBooksIn } from '../billing/audit/usage-audit.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { type MoveOutcome, outcomeOf } from './move-receipt.js';
import { AccountMoveError, onOneSnapshot, withMoveSession } from './move-session.js';
import { LEFT_TABLES, leftRowsOf, MOVED_TABLES } from './moved-tables.js';
import { takeFromEverybody } from './usage-of-everybody.js';

const OPEN_MOVE = `
  SELECT id, receipt_key, cell, outcome FROM account_move
   WHERE account_id = $1 AND direction = 'out' AND outcome IS NULL FOR UPDATE`;
const LAST_MOVE = `
  SELECT id, receipt_key, cell, outcome FROM account_move
   WHERE account_id = $1 AND direction = 'out' AND outcome IS NOT NULL ORDER BY begun_at DESC LIMIT 1`;
const END_MOVE = `UPDATE account_move SET outcome = $2, ended_at = now() WHERE id = $1`;
const OPEN_AGAIN = `UPDATE account SET leaving = NULL WHERE id = $1`;
const WATCH_LOTS = `
  UPDATE credit_lot SET look_at = expires_at WHERE account_id = $1 AND NOT is_empty AND expires_at IS NOT NULL`;
/** First without lots and mark, so that no trigger follows the change of the balance. */
const FORGET_LOTS = `
  UPDATE account SET in_lots = NULL, lots_until = NULL, low_balance = NULL, is_low = false WHERE id = $1`;
const EMPTY = `UPDATE account SET posted = 0, leaving = 0 WHERE id = $1`;

/** The end of a move in the cell that the account left, or where it stays. */
export interface LeaveReport {
  readonly accountId: string;
  readonly cell: string;
  readonly outcome: MoveOutcome;
  /** Of this cell, full. */
  readonly audit: AuditReport;
}

/**
 * Ends a move as the receipt of the other cell says. Imported: everything of the account is deleted here but its row, its stored files and
 * the record of its moves, and its sums leave those of all accounts. Refused: the account is as before, disabled. Then all books are
 * audited, in the same transaction: with a finding nothing is changed. Throws {@link AccountMoveError}. It may be repeated.
 */
export async function endExport(
  config: GatewayConfig,
  accountId: string,
  receipt: string,
): Promise<LeaveReport> {
  return withMoveSession(config, (db, own) =>
    onOneSnapshot(db, async (manager) => {
      await manager.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [accountId]);
      const { cell, outcome } = await decide(manager, { accountId, receipt, from: own.id });
      const audit = await auditBooksIn(manager, 'full');
      rejectFindings(audit);
      return { accountId, cell, outcome, audit };
    }),
  );
}

async function decide(
  manager: EntityManager,
  { accountId, receipt, from }: Readonly<Record<'accountId' | 'receipt' | 'from', string>>,
) {
  interface MoveRow {
    readonly id: string;
    readonly receipt_key: string;
    readonly cell: string;
    readonly outcome: MoveOutcome | null;
  }
  const [open] = await manager.query<MoveRow[]>(OPEN_MOVE, [accountId]);
  const [move = open] = open ? [open] : await manager.query<MoveRow[]>(LAST_MOVE, [accountId]);
  if (move === undefined) throw new AccountMoveError('The account does not move.');
  const outcome = outcomeOf({ receiptKey: move.receipt_key, from }, receipt);
  if (outcome === undefined) {
    throw new AccountMoveError(
      `This is no receipt of the move to the cell ${move.cell}: take what account:import printed there. Nothing was changed.`,
    );
  }
  if ((move.outcome ?? outcome) !== outcome) throw new AccountMoveError(otherEnd(outcome, move));
  if (open !== undefined) {
    await manager.query(END_MOVE, [open.id, outcome]);
    await (outcome === 'imported' ? leave(manager, accountId) : stay(manager, accountId));
  }
  return { cell: move.cell, outcome };
}

/** The cell that decides has decided twice, because its database went back in time between the two. */
const otherEnd = (
  outcome: MoveOutcome,
  { cell, outcome: known }: { readonly cell: string; readonly outcome: MoveOutcome | null },
): string =>
  outcome === 'imported'
    ? `This move has ended here as ${known}, so the account lives here and in the cell ${cell} too, whose database has forgotten that it refused it. Disable it in one of them. Nothing was changed.`
    : `This move has ended here as ${known}, so the account is in no cell: the database of the cell ${cell} has forgotten that it imported it. Keep the file of the move: it is the only copy. Nothing was changed.`;

async function stay(manager: EntityManager, accountId: string): Promise<void> {
  await manager.query(OPEN_AGAIN, [accountId]);
  await manager.query(WATCH_LOTS, [accountId]);
}

async function leave(manager: EntityManager, accountId: string): Promise<void> {
  await deleteRows(manager, accountId);
  await manager.query(FORGET_LOTS, [accountId]);
  await manager.query(EMPTY, [accountId]);
}

/** Deletes all rows of an account that has left but its own, and takes its sums off those of all accounts. It may be repeated. */
export async function deleteRows(manager: EntityManager, accountId: string): Promise<void> {
  await manager.query('SELECT FROM usage_state FOR UPDATE');
  await takeFromEverybody(manager, accountId);
  for (const table of Object.keys(LEFT_TABLES)) {
    await manager.query(`DELETE FROM ${table} WHERE ${leftRowsOf(table)}`, [accountId]);
  }
  // Backwards, so that what is found by the keys goes before the keys. The row of the account stays, so that its id is never free.
  for (const { name, where = 'account_id = $1' } of MOVED_TABLES.toReversed()) {
    if (name !== 'account') await manager.query(`DELETE FROM ${name} WHERE ${where}`, [accountId]);
  }
}

/** Throws {@link AccountMoveError} where the audit of a move found something, so that nothing of the move stays. */
export function rejectFindings({ ok, discrepancies }: AuditReport): void {
  if (ok) return;
  const told = discrepancies.map(
    ({ accountId, rule, detail }) => `${accountId}: ${rule} (${detail})`,
  );
  throw new AccountMoveError(
    `The audit of this cell has findings, so nothing was changed: ${told.join('; ')}.`,
  );
}

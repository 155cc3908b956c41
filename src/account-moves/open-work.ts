import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { reversalsOnDisk } from '../billing/recovery/reversal-journal.js';
import { AccountMoveError, LOOK_AGAIN_MS, type MoveWaits } from './move-session.js';

/** What is open; $1 is the account. */
const OPEN_WORK = `
  SELECT what FROM (
    SELECT count(*) || ' calls are running' AS what, count(*) AS n FROM execution WHERE account_id = $1 AND status = 'running'
    UNION ALL
    SELECT count(*) || ' tasks are open or their outcome is unknown', count(*) FROM task
     WHERE account_id = $1 AND status IN ('queued', 'processing', 'reconciliation_required')
    UNION ALL
    SELECT count(*) || ' holds are open', count(*) FROM hold WHERE account_id = $1 AND state = 'open'
    UNION ALL
    SELECT count(*) || ' webhooks wait for their receiver', count(*) FROM webhook_delivery
     WHERE account_id = $1 AND status = 'pending') o
   WHERE n > 0`;
/** What was promised until a moment that has not come, and does not move. */
const PROMISED = `
  SELECT n || ' ' || what || ' until ' || to_char(until, 'YYYY-MM-DD HH24:MI "UTC"') AS what FROM (
    SELECT 1 AS nth, count(*) AS n, 'stored files' AS what, max(expires_at) AS until FROM stored_file
     WHERE account_id = $1 AND state = 'stored' AND expires_at > now()
    UNION ALL
    SELECT 2, count(*), 'stored responses', max(expires_at) FROM stored_response WHERE account_id = $1 AND expires_at > now()
    UNION ALL
    SELECT 3, count(*), 'kept answers', max(expires_at) FROM kept_answer WHERE account_id = $1 AND expires_at > now()
    UNION ALL
    SELECT 4, count(*), 'late results of tasks that ended without one may still come', max(w.until)
      FROM (SELECT coalesce(t.completed_at, t.created_at) + interval '7 days' AS until
              FROM task_work k JOIN task t ON t.account_id = k.account_id AND t.id = k.task_id
             WHERE k.account_id = $1 AND k.phase = 'watching') w
     WHERE w.until > now()) p
   WHERE n > 0 ORDER BY nth`;
/** When the last call or task of an account began; null: it had none. No index has it, so it is read once. */
const LAST_BEGUN = `
  SELECT greatest((SELECT max(created_at) FROM execution WHERE account_id = $1),
                  (SELECT max(created_at) FROM task WHERE account_id = $1))::text AS begun`;
/**
 * Processes that may have a call or a submission of a task that began no later than $1, when the last one of the account did. An owed
 * reversal counts as such: what it undoes stays open until it is made.
 */
const LATE_PROCESSES = `
  SELECT count(*)::int AS processes FROM gateway_process WHERE lease_until > now() AND oldest_open_at <= $1::timestamptz`;

/** Throws {@link AccountMoveError} where a call, a task, a hold or a webhook of the account is open. */
export async function rejectOpen(db: DataSource | EntityManager, accountId: string): Promise<void> {
  const open = await db.query<{ what: string }[]>(OPEN_WORK, [accountId]);
  if (open.length === 0) return;
  throw new AccountMoveError(
    `The account cannot be moved yet: ${open.map(({ what }) => what).join(', ')}. Nothing was changed.`,
  );
}

/** Throws {@link AccountMoveError} where files, responses or answers are kept for the account, or results may come, which would be lost. */
export async function rejectPromised(
  db: DataSource | EntityManager,
  accountId: string,
): Promise<void> {
  const kept = await db.query<{ what: string }[]>(PROMISED, [accountId]);
  if (kept.length === 0) return;
  throw new AccountMoveError(
    `What the account was promised does not move: ${kept.map(({ what }) => what).join(', ')}. Wait until then, or leave it behind with --without-content. Nothing was changed.`,
  );
}

/**
 * Waits until no living process owes the account the reversal of a call or task, and no journal of `dataDir` has one. Throws
 * {@link AccountMoveError} after the wait. The journals of other machines are not seen: what they owe an account that has left is put
 * aside and logged by the process that finds it.
 */
export async function waitUntilNothingIsOwed(
  db: DataSource,
  { accountId, dataDir }: { readonly accountId: string; readonly dataDir: string },
  { owedMs }: MoveWaits,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + owedMs;
  const [last] = await db.query<{ begun: string | null }[]>(LAST_BEGUN, [accountId]);
  for (;;) {
    const reversals = await reversalsOnDisk(dataDir);
    const onDisk = reversals.filter((reversal) => reversal.accountId === accountId).length;
    const [late] = await db.query<{ processes: number }[]>(LATE_PROCESSES, [last?.begun ?? null]);
    if (onDisk === 0 && late?.processes === 0) return;
    if (performance.now() > deadline) throw new AccountMoveError(owedText(onDisk));
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}

const owedText = (onDisk: number): string =>
  onDisk > 0
    ? `${onDisk} reversals of the account are owed in DATA_DIR/owed: a gateway that runs with this DATA_DIR makes them. Nothing was changed.`
    : 'Processes still have calls, of any account, that began before the last one of this account, so a reversal may be owed to it. Run the command again when they have ended. Nothing was changed.';

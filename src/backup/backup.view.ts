import { formatMicroUsd } from '../common/money/micro-usd.js';
import type { BackupReport } from './backup.js';
import { toEpochSeconds } from '../common/time/clock.js';
import type { OpenWork } from './open-work.js';
import type { RestoreReport } from './restore.js';

/** A backup as operators read it. */
export function viewBackup({ file, sizeBytes, contains }: BackupReport) {
  return { object: 'backup', file, size_bytes: sizeBytes, contains: contains.join(', ') };
}

/** A restored data folder as operators read it; amounts in micro-USD. */
export function viewRestore({ dataDir, contains, audit, work }: RestoreReport) {
  const { newestEntryAt: newest } = work;
  return {
    object: 'restore',
    data_dir: dataDir,
    contains: contains.join(', '),
    audit_ok: audit.ok,
    accounts: audit.accounts,
    posted_microusd: formatMicroUsd(audit.postedMicroUsd),
    held_microusd: formatMicroUsd(audit.heldMicroUsd),
    open_tasks: work.openTasks,
    open_task_ids: work.openTaskIds,
    open_tasks_not_named: work.openTasks - work.openTaskIds.length,
    open_tasks_with_job: work.openTasksWithJob,
    open_tasks_held_microusd: formatMicroUsd(work.openTasksHeldMicroUsd),
    undecided_tasks: work.undecidedTasks,
    live_keys: work.liveKeys,
    newest_entry_at: newest === null ? null : toEpochSeconds(newest),
    to_do: toDoAfter(work),
  };
}

/** What the operator has to do by hand, because it happened after the backup. */
function toDoAfter({ undecidedTasks, newestEntryAt }: OpenWork): string[] {
  const since = newestEntryAt === null ? 'the backup' : newestEntryAt.toISOString();
  return [
    `Revoke again the keys that were revoked, limited or rotated since ${since}: the backup knows them as they were.`,
    `Repeat the credits, corrections and refunds made since ${since}, and only these: compare with your payments.`,
    `Look up the jobs that providers made since ${since}: tasks accepted since are not here, and the charges of calls since are not either.`,
    ...(undecidedTasks === 0
      ? []
      : [
          `Decide the ${undecidedTasks} tasks whose outcome is unknown: tasks --status reconciliation_required, then task:resolve TASK collect or failed.`,
        ]),
  ];
}

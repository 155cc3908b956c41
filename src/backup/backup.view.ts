import { formatMicroUsd } from '../common/money/micro-usd.js';
import type { BackupReport } from './backup.js';
import type { RestoreReport } from './restore.js';

/** A backup as operators read it. */
export function viewBackup({ file, sizeBytes, contains }: BackupReport) {
  return { object: 'backup', file, size_bytes: sizeBytes, contains: contains.join(', ') };
}

/** A restored data folder as operators read it; amounts in micro-USD. */
export function viewRestore({ dataDir, contains, audit }: RestoreReport) {
  return {
    object: 'restore',
    data_dir: dataDir,
    contains: contains.join(', '),
    audit_ok: audit.ok,
    accounts: audit.accounts,
    posted_microusd: formatMicroUsd(audit.postedMicroUsd),
    held_microusd: formatMicroUsd(audit.heldMicroUsd),
  };
}

import { toPublicId } from '../common/ids/public-id.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import type { AuditReport } from '../billing/audit/audit.js';
import type { ExportReport } from './account-export.js';
import type { ImportReport } from './account-import.js';
import type { LeaveReport } from './account-leave.js';
import type { Cell } from './cell-id.js';

/** A cell as operators name it to the cell that an account leaves. */
export const viewCell = ({ id, name }: Cell) => ({ object: 'cell', id, name });

/** An export as operators read it; amounts in micro-USD. */
export function viewExport({ header, file, sizeBytes, ...left }: ExportReport) {
  return {
    object: 'account_export',
    account_id: toPublicId('acct', header.accountId),
    cell: header.cell,
    file,
    size_bytes: sizeBytes,
    posted_microusd: header.posted,
    rows: Object.values(header.counts).reduce((sum, count) => sum + count, 0),
    stored_files_left: left.storedFiles,
    stored_bytes_left: left.storedBytes,
    webhook_endpoints_left: left.webhookEndpoints,
  };
}

/** What the cell that imports decided, as operators read it. */
export function viewImport({ header, outcome, receipt, audit }: ImportReport) {
  return {
    object: 'account_import',
    account_id: toPublicId('acct', header.accountId),
    outcome,
    receipt,
    posted_microusd: outcome === 'imported' ? header.posted : '0',
    ...(audit && viewProof(audit)),
  };
}

/** The end of a move in the cell that exported, as operators read it. */
export function viewLeave({ accountId, cell, outcome, audit }: LeaveReport) {
  return {
    object: 'account_export',
    account_id: toPublicId('acct', accountId),
    cell,
    outcome,
    ...viewProof(audit),
  };
}

/** The audit of the cell, which found nothing: its accounts and the sum of their balances. */
const viewProof = ({ ok, accounts, postedMicroUsd }: AuditReport) => ({
  audit_ok: ok,
  cell_accounts: accounts,
  cell_posted_microusd: formatMicroUsd(postedMicroUsd),
});

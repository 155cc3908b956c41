import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import type { IssuedKey } from '../auth/api-keys.service.js';
import type { Account } from '../billing/account.js';
import type { AuditReport } from '../billing/audit.js';
import type { LedgerEntry } from '../billing/ledger-entry.js';
import type { Page } from '../common/paging/page.js';
import { toPublicId } from '../common/ids/public-id.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { toEpochSeconds } from '../common/time/clock.js';
import type { Execution } from '../executions/execution.js';
import { ExecutionView, viewExecution } from '../executions/execution.view.js';

const seconds = (date: Date | null): number | null => (date === null ? null : toEpochSeconds(date));

/** An account as the operator sees it. */
export const viewAccount = (account: Account) => ({
  id: toPublicId('acct', account.id),
  object: 'account' as const,
  name: account.name,
  available_microusd: formatMicroUsd(account.availableMicroUsd),
  held_microusd: formatMicroUsd(account.heldMicroUsd),
  created_at: toEpochSeconds(account.createdAt),
});

/** One movement of money. A charge's reference is the execution or task it paid for. */
export const viewEntry = (entry: LedgerEntry) => ({
  id: toPublicId('entry', entry.id),
  object: 'ledger_entry' as const,
  kind: entry.kind,
  amount_microusd: formatMicroUsd(entry.amountMicroUsd),
  balance_after_microusd: formatMicroUsd(entry.balanceAfterMicroUsd),
  reference: entry.reference ?? (entry.holdId === null ? null : toPublicId('exec', entry.holdId)),
  created_at: toEpochSeconds(entry.createdAt),
});

/** A key without its secret. */
export const viewKey = (key: ApiKeyRecord) => ({
  id: toPublicId('key', key.id),
  object: 'api_key' as const,
  account_id: toPublicId('acct', key.accountId),
  name: key.name,
  prefix: key.prefix,
  allowed_models: key.allowedModels,
  requests_per_minute: key.requestsPerMinute,
  expires_at: seconds(key.expiresAt),
  revoked_at: seconds(key.revokedAt),
  created_at: toEpochSeconds(key.createdAt),
});

/** A key as it is handed out; `key` is shown only here. */
export const viewIssuedKey = ({ key, record }: IssuedKey) => ({ ...viewKey(record), key });

/** An execution as the operator sees it: with account, key and provider. */
export class AdminExecutionView extends ExecutionView {
  @ApiProperty()
  account_id!: string;

  @ApiProperty({ nullable: true, type: String })
  api_key_id!: string | null;

  @ApiProperty({ nullable: true, type: String })
  provider!: string | null;
}

export const viewAdminExecution = (execution: Execution): AdminExecutionView => ({
  ...viewExecution(execution),
  account_id: toPublicId('acct', execution.accountId),
  api_key_id: execution.apiKeyId === null ? null : toPublicId('key', execution.apiKeyId),
  provider: execution.provider,
});

/** A page of a list. */
export const viewPage = <Item, View>(page: Page<Item>, view: (item: Item) => View) => ({
  object: 'list' as const,
  data: page.items.map(view),
  has_more: page.nextCursor !== null,
  next_cursor: page.nextCursor,
});

/** The proof of the books. */
export const viewAudit = (report: AuditReport) => ({
  object: 'audit' as const,
  ok: report.ok,
  accounts: report.accounts,
  posted_microusd: formatMicroUsd(report.postedMicroUsd),
  entries_microusd: formatMicroUsd(report.entriesMicroUsd),
  held_microusd: formatMicroUsd(report.heldMicroUsd),
  open_holds_microusd: formatMicroUsd(report.openHoldsMicroUsd),
  discrepancies: report.discrepancies.map(({ accountId, rule, detail }) => ({
    account_id: toPublicId('acct', accountId),
    rule,
    detail,
  })),
});

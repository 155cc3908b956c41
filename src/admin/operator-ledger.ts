import { Injectable } from '@nestjs/common';
import { Accounts } from '../billing/accounts/accounts.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import type { EntryQuery } from '../billing/ledger-requests.js';
import { type CsvHead, setCsvHead } from '../common/csv.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { filterId, pathId } from '../common/ids/id-params.js';
import { NEXT_CURSOR_HEADER, type PageView, viewPage } from '../common/paging/page.view.js';
import { timeRangeOf } from '../common/time/time-range.js';
import type { LedgerQuery } from './dto/admin.queries.js';
import { csvOfEntries, type LedgerEntryView, viewEntry } from './views/ledger-entry.view.js';

const JSON_ROWS = { most: 100, default: 20 } as const;
const CSV_ROWS = { most: 10_000, default: 1_000 } as const;

/** The ledger as operators read it, for both the API and the command line. */
@Injectable()
export class OperatorLedger {
  constructor(
    private readonly accounts: Accounts,
    private readonly ledger: LedgerService,
  ) {}

  /**
   * A page of the entries of an account, newest first, or of all accounts, one after the other; JSON or CSV, as `format` asks.
   * For CSV it sets the content type, the file's name and the header with the next cursor. Throws 404 for an unknown account
   * and 400 `invalid_request`.
   */
  async answer(
    account: string | undefined,
    query: LedgerQuery,
    head: CsvHead,
  ): Promise<PageView<LedgerEntryView> | string> {
    const accountId = account === undefined ? undefined : pathId('acct', account);
    if (accountId !== undefined) await this.accounts.get(accountId);
    const page = await this.ledger.entries(accountId, entryQueryOf(query));
    if (query.format === 'json') return viewPage(page, viewEntry);
    setCsvHead(head, account === undefined ? 'ledger.csv' : `ledger-${account}.csv`);
    if (page.nextCursor !== null) head.setHeader(NEXT_CURSOR_HEADER, page.nextCursor);
    return csvOfEntries(page.items);
  }
}

function entryQueryOf(query: LedgerQuery): EntryQuery {
  return {
    ...timeRangeOf(query),
    limit: limitOf(query),
    cursor: query.cursor,
    kind: query.kind,
    correctionKind: query.correction_kind,
    reason: query.reason,
    idempotencyKey: query.idempotency_key,
    model: query.model,
    apiKeyId: filterId('key', 'api_key_id', query.api_key_id),
  };
}

function limitOf({ format, limit }: LedgerQuery): number {
  const rows = format === 'csv' ? CSV_ROWS : JSON_ROWS;
  if (limit === undefined || limit <= rows.most) return limit ?? rows.default;
  const message = `limit must be a whole number from 1 to ${rows.most} where format is ${format}.`;
  throw new GatewayError('invalid_request', message, { param: 'limit' });
}

import { Injectable, type StreamableFile } from '@nestjs/common';
import { Accounts } from '../billing/accounts/accounts.js';
import { asksForAll, entryQueryOf } from '../billing/ledger/dto/ledger.query.js';
import { answerEntries } from '../billing/statements/ledger-pages.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import type { CsvHead } from '../common/csv.js';
import { pathId } from '../common/ids/id-params.js';
import type { PageView } from '../common/paging/page.view.js';
import type { SendPages } from '../platform/http-server/responses/csv-streams.js';
import type { LedgerQuery } from './dto/admin.queries.js';
import { csvOfEntries, type LedgerEntryView, viewEntry } from './views/ledger-entry.view.js';

/** The ledger as operators read it, for both the API and the command line. */
@Injectable()
export class OperatorLedger {
  constructor(
    private readonly accounts: Accounts,
    private readonly ledger: LedgerService,
  ) {}

  /**
   * The entries of an account or of all accounts: see {@link answerEntries}. CSV without a limit is all of them where there is
   * `sendAll`. Throws 404 for an unknown account and 400 `invalid_request`.
   */
  async answer(
    account: string | undefined,
    query: LedgerQuery,
    head: CsvHead,
    sendAll?: SendPages,
  ): Promise<PageView<LedgerEntryView> | string | StreamableFile> {
    const accountId = account === undefined ? undefined : pathId('acct', account);
    if (accountId !== undefined) await this.accounts.get(accountId);
    const fileName = account === undefined ? 'ledger.csv' : `ledger-${account}.csv`;
    const face = { view: viewEntry, csv: csvOfEntries, fileName };
    const entries = { ...entryQueryOf(query), idempotencyKey: query.idempotency_key };
    const whole = asksForAll(query) ? sendAll : undefined;
    const scope = { accountId, format: query.format, sendAll: whole };
    return answerEntries(this.ledger, scope, entries, face, head);
  }
}

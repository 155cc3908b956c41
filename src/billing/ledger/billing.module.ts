import { Module } from '@nestjs/common';
import { CsvStreams } from '../../platform/http-server/responses/csv-streams.js';
import { AvailableFunds } from '../accounts/available-funds.js';
import { Accounts } from '../accounts/accounts.js';
import { LedgerAudit } from '../audit/ledger-audit.js';
import { CreditExpiry } from './credit-expiry.js';
import { LedgerService } from './ledger.service.js';

/** Accounts, holds, entries and their CSV, the expiry of credits, and the audit. Takes the DataSource, the Clock and the Scheduler from global modules. */
@Module({
  providers: [Accounts, LedgerService, AvailableFunds, LedgerAudit, CreditExpiry, CsvStreams],
  exports: [Accounts, LedgerService, AvailableFunds, LedgerAudit, CsvStreams],
})
export class BillingModule {}

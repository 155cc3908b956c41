import { Module } from '@nestjs/common';
import { AvailableFunds } from './available-funds.js';
import { Accounts } from './accounts.js';
import { LedgerAudit } from './ledger-audit.js';
import { LedgerService } from './ledger.service.js';

/** Accounts, holds, entries, and their audit. Takes the DataSource, the Clock and the Ticker from global modules. */
@Module({
  providers: [Accounts, LedgerService, AvailableFunds, LedgerAudit],
  exports: [Accounts, LedgerService, AvailableFunds, LedgerAudit],
})
export class BillingModule {}

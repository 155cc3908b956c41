import { Module } from '@nestjs/common';
import { LedgerAudit } from './ledger-audit.js';
import { LedgerService } from './ledger.service.js';

/** Accounts, holds, entries and their audit. Takes the DataSource, the Clock and the Ticker from global modules. */
@Module({
  providers: [LedgerService, LedgerAudit],
  exports: [LedgerService, LedgerAudit],
})
export class BillingModule {}

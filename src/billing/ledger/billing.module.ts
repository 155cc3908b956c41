import { Module } from '@nestjs/common';
import { AvailableFunds } from '../accounts/available-funds.js';
import { Accounts } from '../accounts/accounts.js';
import { LedgerAudit } from '../audit/ledger-audit.js';
import { CreditExpiry } from './credit-expiry.js';
import { LedgerService } from './ledger.service.js';

/** Accounts, holds, entries, the expiry of credits, and the audit. Takes the DataSource, the Clock and the Scheduler from global modules. */
@Module({
  providers: [Accounts, LedgerService, AvailableFunds, LedgerAudit, CreditExpiry],
  exports: [Accounts, LedgerService, AvailableFunds, LedgerAudit],
})
export class BillingModule {}

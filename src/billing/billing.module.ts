import { Module } from '@nestjs/common';
import { LedgerService } from './ledger.service.js';
import { OpenHoldsGauge } from './open-holds.gauge.js';

/** Accounts, holds and entries. Takes the DataSource, the Clock and the Metrics from global modules. */
@Module({
  providers: [LedgerService, OpenHoldsGauge],
  exports: [LedgerService],
})
export class BillingModule {}

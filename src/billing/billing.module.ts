import { Module } from '@nestjs/common';
import { GatewayProcess } from './gateway-process.js';
import { LedgerService } from './ledger.service.js';

/** Accounts, holds and entries. Takes the DataSource and the Clock from global modules. */
@Module({
  providers: [LedgerService, GatewayProcess],
  exports: [LedgerService, GatewayProcess],
})
export class BillingModule {}

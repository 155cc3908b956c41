import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/ledger/billing.module.js';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { UsageModule } from '../billing/usage/usage.module.js';
import { AccountController } from './account.controller.js';
import { AccountService } from './account.service.js';

/** Self-service for key holders. */
@Module({
  imports: [AuthModule, BillingModule, ExecutionsModule, UsageModule],
  controllers: [AccountController],
  providers: [AccountService],
})
export class AccountModule {}

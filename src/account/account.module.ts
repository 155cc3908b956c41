import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/ledger/billing.module.js';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { StatementsModule } from '../billing/statements/statements.module.js';
import { UsageModule } from '../billing/usage/usage.module.js';
import { RunsService } from '../billing/runs/runs.service.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AccountController } from './account.controller.js';
import { AccountDeliveriesController } from './account-deliveries.controller.js';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { AccountService } from './account.service.js';
import { OwnHoldsController } from './own-holds.controller.js';
import { TopUpPage } from './topup-page.js';
import { OwnLedgerController } from './ledger.controller.js';
import { RunsController } from './runs.controller.js';
import { OwnKeysController } from './own-keys.controller.js';
import { OwnKeysService } from './own-keys.service.js';

/** Self-service for key holders. */
@Module({
  imports: [
    AuthModule,
    BillingModule,
    ExecutionsModule,
    StatementsModule,
    UsageModule,
    WebhooksModule,
  ],
  controllers: [
    AccountController,
    AccountDeliveriesController,
    OwnHoldsController,
    OwnKeysController,
    OwnLedgerController,
    RunsController,
    WebhookEndpointsController,
  ],
  providers: [AccountService, OwnKeysService, RunsService, TopUpPage],
})
export class AccountModule {}

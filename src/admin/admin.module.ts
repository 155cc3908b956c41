import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { ExecutionsModule } from '../executions/executions.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AccountsController } from './accounts.controller.js';
import { AdminGuard } from './admin.guard.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesService } from './deliveries.service.js';
import { KeysController } from './keys.controller.js';
import { OperatorService } from './operator.service.js';
import { RecordsController } from './records.controller.js';

/** The operator API. */
@Module({
  imports: [AuthModule, BillingModule, ExecutionsModule, WebhooksModule],
  controllers: [AccountsController, KeysController, RecordsController, DeliveriesController],
  providers: [OperatorService, DeliveriesService, AdminGuard],
  exports: [OperatorService],
})
export class AdminModule {}

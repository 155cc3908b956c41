import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { BillingModule } from '../billing/billing.module.js';
import { ExecutionsModule } from '../executions/executions.module.js';
import { AccountsController } from './accounts.controller.js';
import { AdminGuard } from './admin.guard.js';
import { KeysController } from './keys.controller.js';
import { OperatorService } from './operator.service.js';
import { RecordsController } from './records.controller.js';

/** The operator API. */
@Module({
  imports: [AuthModule, BillingModule, ExecutionsModule],
  controllers: [AccountsController, KeysController, RecordsController],
  providers: [OperatorService, AdminGuard],
  exports: [OperatorService],
})
export class AdminModule {}

import { Module } from '@nestjs/common';
import { VendorReconciliation } from '../reconciliation/vendor-reconciliation.js';
import { AccountUsage } from './account-usage.js';
import { UsageReports } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';
import { UsageService } from './usage.service.js';

/** Usage by day, account, key, model and endpoint, and what it cost. */
@Module({
  providers: [AccountUsage, UsageRollup, UsageReports, UsageService, VendorReconciliation],
  exports: [AccountUsage, UsageReports, UsageService, VendorReconciliation],
})
export class UsageModule {}

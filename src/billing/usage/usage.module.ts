import { Module } from '@nestjs/common';
import { AccountUsage } from './account-usage.js';
import { UsageReports } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';
import { UsageService } from './usage.service.js';

/** Usage by day, account, key, model and endpoint. */
@Module({
  providers: [AccountUsage, UsageRollup, UsageReports, UsageService],
  exports: [AccountUsage, UsageReports, UsageService],
})
export class UsageModule {}

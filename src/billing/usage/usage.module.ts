import { Module } from '@nestjs/common';
import { UsageReports } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';
import { UsageService } from './usage.service.js';

/** Usage by day, account, key, model and endpoint. */
@Module({
  providers: [UsageRollup, UsageReports, UsageService],
  exports: [UsageReports, UsageService],
})
export class UsageModule {}

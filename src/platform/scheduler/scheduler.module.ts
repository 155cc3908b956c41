import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { FiguresLeader } from './figures-leader.js';
import { Scheduler } from './scheduler.js';
import { StandbyMetrics } from './standby-metrics.js';

/**
 * Gives every module the {@link Scheduler}, elects the process that publishes the figures of the database, and publishes those of its
 * standbys.
 */
@Global()
@Module({
  imports: [ScheduleModule.forRoot()],
  providers: [Scheduler, FiguresLeader, StandbyMetrics],
  exports: [Scheduler],
})
export class SchedulerModule {}

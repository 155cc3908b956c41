import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { FiguresLeader } from './figures-leader.js';
import { Scheduler } from './scheduler.js';

/** Gives every module the {@link Scheduler}, and elects the process that publishes the figures of the database. */
@Global()
@Module({
  imports: [ScheduleModule.forRoot()],
  providers: [Scheduler, FiguresLeader],
  exports: [Scheduler],
})
export class SchedulerModule {}

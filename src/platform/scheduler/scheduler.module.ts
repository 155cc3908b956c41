import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Scheduler } from './scheduler.js';

/** Gives every module the {@link Scheduler}. */
@Global()
@Module({ imports: [ScheduleModule.forRoot()], providers: [Scheduler], exports: [Scheduler] })
export class SchedulerModule {}

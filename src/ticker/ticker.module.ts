import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Ticker } from './ticker.js';

/** Gives every module the {@link Ticker}. */
@Global()
@Module({ imports: [ScheduleModule.forRoot()], providers: [Ticker], exports: [Ticker] })
export class TickerModule {}

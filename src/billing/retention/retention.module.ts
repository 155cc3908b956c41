import { Module } from '@nestjs/common';
import { RecordRetention } from './record-retention.js';

/** How long records are kept. Takes the DataSource, the Scheduler and the configuration from global modules. */
@Module({ providers: [RecordRetention] })
export class RetentionModule {}

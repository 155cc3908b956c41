import { Module } from '@nestjs/common';
import { ResponseStore } from './response-store.js';
import { ResponseSweeper } from './response-sweeper.js';
import { StoredContent } from './stored-content.js';

/** Stored responses. Takes the DataSource, the Scheduler and the configuration from global modules. */
@Module({
  providers: [StoredContent, ResponseStore, ResponseSweeper],
  exports: [StoredContent, ResponseStore],
})
export class StoredResponsesModule {}

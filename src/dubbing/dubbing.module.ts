import { Module } from '@nestjs/common';
import { MediaModule } from '../media/media.module.js';
import { StorageModule } from '../platform/storage/storage.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { DubbingController } from './dubbing.controller.js';
import { DubbingKind } from './dubbing.kind.js';
import { DubbingService } from './dubbing.service.js';

/** Dubbing: the endpoint and its kind of task. */
@Module({
  imports: [TasksModule, MediaModule, StorageModule],
  controllers: [DubbingController],
  providers: [DubbingService, DubbingKind],
})
export class DubbingModule {}

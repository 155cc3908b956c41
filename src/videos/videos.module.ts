import { Module } from '@nestjs/common';
import { StorageModule } from '../platform/storage/storage.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { VideoBodyGuard } from './video-body.guard.js';
import { VideoChecks } from './video-checks.js';
import { VideoContentController } from './video-content.controller.js';
import { VideoFiles } from './video-files.js';
import { VideoKind } from './video.kind.js';
import { VideoReads } from './video-reads.js';
import { VideosController } from './videos.controller.js';
import { VideosService } from './videos.service.js';

/** Video generation. */
@Module({
  imports: [StorageModule, TasksModule],
  controllers: [VideosController, VideoContentController],
  providers: [VideosService, VideoChecks, VideoReads, VideoKind, VideoFiles, VideoBodyGuard],
})
export class VideosModule {}

import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { MediaModule } from '../media/media.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { ImageBytes } from './image-bytes.js';
import { ImagesController } from './images.controller.js';
import { ImagesService } from './images.service.js';

/** Image generation. */
@Module({
  imports: [ExecutionsModule, MediaModule, TasksModule],
  controllers: [ImagesController],
  providers: [ImagesService, ImageBytes],
})
export class ImagesModule {}

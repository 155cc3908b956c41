import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { ImageBytes } from './image-bytes.js';
import { ImagesController } from './images.controller.js';
import { ImagesService } from './images.service.js';

/** Image generation. */
@Module({
  imports: [ExecutionsModule],
  controllers: [ImagesController],
  providers: [ImagesService, ImageBytes],
})
export class ImagesModule {}

import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ModelParameters } from './model-parameters.js';
import { ModelsController } from './models.controller.js';
import { ModelsService } from './models.service.js';
import { VoicesController } from './voices.controller.js';

/** The models that a key may use, and the voices. */
@Module({
  imports: [AuthModule],
  controllers: [ModelsController, VoicesController],
  providers: [ModelsService, ModelParameters],
})
export class ModelsModule {}

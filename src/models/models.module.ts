import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ModelsController } from './models.controller.js';
import { ModelsService } from './models.service.js';

/** Which models a key may use. */
@Module({
  imports: [AuthModule],
  controllers: [ModelsController],
  providers: [ModelsService],
})
export class ModelsModule {}

import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../executions/executions.module.js';
import { SpeechController } from './speech/speech.controller.js';
import { SpeechService } from './speech/speech.service.js';

/** The synchronous audio endpoints. */
@Module({
  imports: [ExecutionsModule],
  controllers: [SpeechController],
  providers: [SpeechService],
})
export class AudioModule {}

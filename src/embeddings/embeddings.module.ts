import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { TextModule } from '../text/text.module.js';
import { EmbeddingTokens } from './embedding-tokens.js';
import { EmbeddingsController } from './embeddings.controller.js';
import { EmbeddingsService } from './embeddings.service.js';

/** Vectors of texts. */
@Module({
  imports: [ExecutionsModule, TextModule],
  controllers: [EmbeddingsController],
  providers: [EmbeddingsService, EmbeddingTokens],
})
export class EmbeddingsModule {}

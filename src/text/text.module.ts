import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { BrokenStreams } from './broken-streams.js';
import { GeneratedTextBuffers } from './generated-text.js';
import { InlinedImages } from './inlined-images.js';
import { NamedImages } from './named-images.js';
import { StreamOutcomes } from './stream-outcomes.js';
import { TextAnswers } from './text-answers.service.js';
import { TextRuns } from './text-runs.service.js';
import { TextStreams } from './text-streams.service.js';
import { TextUsage } from './text-usage.js';
import { TokenCounter } from './tokens/token-counter.js';

/** The core of text: what every face shares between the quote and the settlement. */
@Module({
  imports: [ExecutionsModule],
  providers: [
    TextAnswers,
    TextStreams,
    TextRuns,
    NamedImages,
    InlinedImages,
    TextUsage,
    GeneratedTextBuffers,
    TokenCounter,
    BrokenStreams,
    StreamOutcomes,
  ],
  exports: [TextAnswers, TextStreams, TextRuns, NamedImages, TextUsage, TokenCounter],
})
export class TextModule {}

import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { BrokenStreams } from './broken-streams.js';
import { ChatController } from './chat.controller.js';
import { ChatImages } from './chat-images.js';
import { ChatQuotes } from './chat-quotes.js';
import { ChatService } from './chat.service.js';
import { ChatStreamService } from './chat-stream.service.js';
import { ChatUsage } from './chat-usage.js';
import { GeneratedTextBuffers } from './generated-text.js';
import { StreamOutcomes } from './stream-outcomes.js';
import { TokenCounter } from './tokens/token-counter.js';

/** Text chat. */
@Module({
  imports: [ExecutionsModule],
  controllers: [ChatController],
  providers: [
    ChatService,
    ChatStreamService,
    ChatImages,
    ChatQuotes,
    ChatUsage,
    GeneratedTextBuffers,
    TokenCounter,
    BrokenStreams,
    StreamOutcomes,
  ],
})
export class ChatModule {}

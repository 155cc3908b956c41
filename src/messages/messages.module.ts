import { Module } from '@nestjs/common';
import { TextModule } from '../text/text.module.js';
import { MessageQuotes } from './message-quotes.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';

/** Messages: the face of text for clients of Anthropic's protocol. */
@Module({
  imports: [TextModule],
  controllers: [MessagesController],
  providers: [MessagesService, MessageQuotes],
})
export class MessagesModule {}

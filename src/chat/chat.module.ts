import { Module } from '@nestjs/common';
import { TextModule } from '../text/text.module.js';
import { ChatController } from './chat.controller.js';
import { ChatQuotes } from './chat-quotes.js';

/** Text chat. */
@Module({
  imports: [TextModule],
  controllers: [ChatController],
  providers: [ChatQuotes],
})
export class ChatModule {}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { ChatImages } from './chat-images.js';
import { quoteOf } from './chat-pricing.js';
import { ChatBody } from './dto/chat.body.js';

/** Quotes of chats: what is held. The charge follows from the tokens that the call uses. */
@Injectable()
export class ChatQuotes implements OnModuleInit {
  constructor(
    private readonly calls: QuotableCalls,
    private readonly images: ChatImages,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(ChatBody);
    this.calls.register('chat', ({ row }, body) => {
      const { hold, request, linesFor, maxTokens } = quoteOf(row, validator.parse(body));
      const hasImages = this.images.checkTexts(request.messages).length > 0;
      return {
        quote: hold,
        tokens: { linesFor, maxTokens },
        unchecked: hasImages ? ['media'] : [],
      };
    });
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { NamedImages } from '../text/named-images.js';
import { quoteOf } from '../text/text-quote.js';
import { chatRequestOf } from './chat-request.js';
import { ChatBody } from './dto/chat.body.js';

/** Quotes of chats: what is held. The charge follows from the tokens that the call uses. */
@Injectable()
export class ChatQuotes implements OnModuleInit {
  constructor(
    private readonly calls: QuotableCalls,
    private readonly images: NamedImages,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(ChatBody);
    this.calls.register('chat', ({ row }, body) => {
      const asked = chatRequestOf(row, validator.parse(body));
      const { hold, linesFor, maxTokens } = quoteOf(row, asked);
      const hasImages = this.images.checkTexts(asked.images).length > 0;
      return {
        quote: hold,
        tokens: { linesFor, maxTokens },
        unchecked: hasImages ? ['media'] : [],
      };
    });
  }
}

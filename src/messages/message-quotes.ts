import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { type OpenBody, parseOpenBody } from '../common/validation/open-body.js';
import { NamedImages } from '../text/named-images.js';
import { quoteOf } from '../text/text-quote.js';
import { TextUsage } from '../text/text-usage.js';
import type { MessageTokensView } from './dto/message.view.js';
import { MessagesBody } from './dto/messages.body.js';
import { messageRequestOf } from './input/message-request.js';

/** What messages would be, which are not made: what they would hold, and how many tokens their prompts have. */
@Injectable()
export class MessageQuotes implements OnModuleInit {
  constructor(
    private readonly calls: QuotableCalls,
    private readonly images: NamedImages,
    private readonly usage: TextUsage,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(MessagesBody);
    const path = '/v1/messages';
    this.calls.register(
      'chat',
      ({ row }, body) => {
        const asked = messageRequestOf(parseOpenBody(validator, body, false));
        const { hold, linesFor, maxTokens } = quoteOf(row, asked);
        const hasImages = this.images.checkTexts(asked.images).length > 0;
        return {
          quote: hold,
          tokens: { linesFor, maxTokens },
          unchecked: hasImages ? ['media'] : [],
        };
      },
      path,
    );
  }

  /** The tokens of the prompt, counted here. Throws as `messageRequestOf` does. */
  async countTokens(accountId: string, sent: OpenBody<MessagesBody>): Promise<MessageTokensView> {
    const { tokens } = await this.usage.promptTokens(
      accountId,
      messageRequestOf(sent).prompt(true),
    );
    return { input_tokens: tokens };
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { QuotableCalls } from '../admission/quotes/quotable-calls.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { type OpenBody, parseOpenBody } from '../common/validation/open-body.js';
import { TaskSubmission } from '../tasks/submission/task-submission.js';
import { NamedImages } from '../text/named-images.js';
import { quoteOf } from '../text/text-quote.js';
import { TextUsage } from '../text/text-usage.js';
import { ResponsesBody } from './dto/responses.body.js';
import type { InputTokensView } from './dto/stored-response.view.js';
import { PreparedResponses } from './prepared-responses.js';

/** What responses would be, which are not made: what they would hold, and how many tokens their conversations have. */
@Injectable()
export class ResponseQuotes implements OnModuleInit {
  constructor(
    private readonly calls: QuotableCalls,
    private readonly images: NamedImages,
    private readonly prepared: PreparedResponses,
    private readonly usage: TextUsage,
    private readonly submission: TaskSubmission,
  ) {}

  onModuleInit(): void {
    const validator = validatorOf(ResponsesBody);
    const path = '/v1/responses';
    this.calls.register(
      'chat',
      async ({ row, caller }, body) => {
        const sent = parseOpenBody(validator, body, false);
        const { asked } = await this.prepared.asked(caller.accountId, sent);
        const { hold, linesFor, maxTokens } = quoteOf(row, asked);
        const hasImages = this.images.checkTexts(asked.images).length > 0;
        const { background, webhook } = sent.body;
        this.submission.checkWebhook(webhook, path);
        return {
          quote: hold,
          tokens: { linesFor, maxTokens },
          unchecked: background
            ? this.submission.uncheckedSteps(webhook, hasImages)
            : hasImages
              ? ['media']
              : [],
        };
      },
      path,
    );
  }

  /** The tokens of the whole conversation, counted here. Throws as `PreparedResponses.asked` does. */
  async countTokens(accountId: string, sent: OpenBody<ResponsesBody>): Promise<InputTokensView> {
    const { asked } = await this.prepared.asked(accountId, sent);
    const { tokens } = await this.usage.promptTokens(accountId, asked.prompt(false));
    return { object: 'response.input_tokens', input_tokens: tokens };
  }
}

import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { toMessageId, toPublicId } from '../common/ids/public-id.js';
import type { JsonObject } from '../common/json-object.js';
import type { OpenBody } from '../common/validation/open-body.js';
import {
  type Charged,
  setIgnoredFieldsHeader,
} from '../platform/http-server/responses/gateway-headers.js';
import { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { TextAnswers } from '../text/text-answers.service.js';
import { quoteOf, type TextQuote } from '../text/text-quote.js';
import type { TextRequest } from '../text/text-request.js';
import { TextStreams } from '../text/text-streams.service.js';
import { type PromptCount, TextUsage } from '../text/text-usage.js';
import type { MessagesBody } from './dto/messages.body.js';
import { messageRequestOf } from './input/message-request.js';
import { type ContextSizes, withContextSizes } from './output/context-limit.js';
import { MessageAnswer, type MessageHead, MessageStream } from './output/message-faces.js';

type Sent = OpenBody<MessagesBody>;

/** Messages as JSON or as a stream (API: POST /v1/messages). */
@Injectable()
export class MessagesService {
  constructor(
    private readonly answers: TextAnswers,
    private readonly streams: TextStreams,
    private readonly usage: TextUsage,
  ) {}

  /** The message, once its charge is durable. Throws as `TextAnswers.complete` does. */
  async answer(
    call: AdmittedCall<'chat'>,
    sent: Sent,
    response: Response,
  ): Promise<Charged<JsonObject>> {
    const asked = askedOf(sent, response);
    const face = new MessageAnswer(headOf(call));
    const quote = quoteOf(call.row, asked);
    try {
      return await this.answers.complete(call, quote, face);
    } catch (error) {
      const prompt = () => this.promptOf(call, asked);
      throw await withContextSizes(error, sizesOf(call, quote, prompt));
    }
  }

  /** Writes the message as server-sent events. Throws as `TextStreams.stream` does. */
  async stream(call: AdmittedCall<'chat'>, sent: Sent, response: Response): Promise<void> {
    const asked = askedOf(sent, response);
    const quote = quoteOf(call.row, asked);
    // The first event tells the tokens of the prompt, which most vendors tell in their last one.
    const prompt = await this.promptOf(call, asked);
    const events = new SseWriter(response, undefined, () => MessageStream.heartbeat());
    const sizes = sizesOf(call, quote, () => Promise.resolve(prompt));
    const face = new MessageStream(events, headOf(call), prompt.tokens, (error) =>
      withContextSizes(error, sizes),
    );
    try {
      await this.streams.stream(call, quote, face, events);
    } catch (error) {
      throw await withContextSizes(error, sizes);
    }
  }

  private promptOf({ caller }: AdmittedCall<'chat'>, asked: TextRequest) {
    return this.usage.promptTokens(caller.accountId, asked.prompt(true));
  }
}

function askedOf(sent: Sent, response: Response): TextRequest {
  return messageRequestOf(sent, response.req.get('anthropic-beta'), (ignored) => {
    // The head of a slow stream is sent before its vendor has answered.
    if (!response.headersSent) setIgnoredFieldsHeader(response, ignored);
  });
}

/** An upper bound of the prompt, which is what there is where it cannot be counted soon, explains no refusal. */
function sizesOf(
  { row }: AdmittedCall<'chat'>,
  { maxTokens }: TextQuote,
  prompt: () => Promise<PromptCount>,
): ContextSizes {
  const promptTokens = async (): Promise<number | undefined> => {
    const { tokens, isEstimated } = await prompt();
    return isEstimated ? undefined : tokens;
  };
  return { promptTokens, maxTokens, contextLength: row.limits.contextLength };
}

function headOf({ executionId, modelName: model }: AdmittedCall<'chat'>): MessageHead {
  return { id: toMessageId(executionId), model, requestId: toPublicId('exec', executionId) };
}

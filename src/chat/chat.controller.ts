import { Controller, Next, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import { BodyLimit } from '../platform/http-server/request-body/json-body.guard.js';
import { KEY_HEADERS } from '../platform/http-server/responses/answer-copy.js';
import {
  CHARGE_HEADERS,
  IGNORED_FIELDS_HEADERS,
  OUTPUT_CAP_HEADERS,
  sendCharged,
  setIgnoredFieldsHeader,
} from '../platform/http-server/responses/gateway-headers.js';
import { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { GeneralEndpoint } from '../admission/call-endpoint.decorators.js';
import { ChatCompletionView } from './chat-completion.view.js';
import { ChatChunkView, CHUNK_EXAMPLE } from './chat-chunk.view.js';
import { toCompletionId } from '../common/ids/public-id.js';
import { Clock } from '../common/time/clock.js';
import { TextAnswers } from '../text/text-answers.service.js';
import { quoteOf } from '../text/text-quote.js';
import { TextStreams } from '../text/text-streams.service.js';
import { chatRequestOf } from './chat-request.js';
import { ChunkFace } from './chunk-face.js';
import { CompletionFace } from './completion-face.js';
import { CHAT_EXAMPLES } from './dto/chat-examples.js';
import { ChatBody } from './dto/chat.body.js';
import { CHAT_SCHEMAS } from './dto/message.schema.js';

/** Images are part of the body (decision G-11). */
const BODY_BYTES = 20 * 1024 * 1024;

/** Text chat. */
@ApiExtraModels(ChatCompletionView, ChatChunkView, ...CHAT_SCHEMAS)
@Controller()
export class ChatController {
  constructor(
    private readonly answers: TextAnswers,
    private readonly streams: TextStreams,
    private readonly clock: Clock,
  ) {}

  @GeneralEndpoint('chat')
  @BodyLimit(BODY_BYTES)
  @BodyExamples(ChatBody, CHAT_EXAMPLES)
  @ApiOperation({
    summary: 'Text chat',
    description:
      'One JSON object, or with `stream` server-sent events: chunks, then `data: [DONE]`. ' +
      'A stream that breaks ends with `data: {"error":{…}}` instead and is not charged.',
  })
  @ApiOkResponse({
    description: 'The answer',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ChatCompletionView) } },
      'text/event-stream': {
        schema: {
          oneOf: [
            { $ref: getSchemaPath(ChatChunkView) },
            { $ref: '#/components/schemas/Error' },
            { type: 'string', enum: ['[DONE]'] },
          ],
        },
        example: CHUNK_EXAMPLE,
      },
    },
    headers: {
      ...CHARGE_HEADERS,
      ...IGNORED_FIELDS_HEADERS,
      ...OUTPUT_CAP_HEADERS,
      ...KEY_HEADERS,
    },
  })
  createChatCompletion(
    @Call() call: AdmittedCall<'chat'>,
    @StrictBody() body: ChatBody,
    @Res() response: Response,
    @Next() next: NextFunction,
  ): Promise<void> | undefined {
    const quote = quoteOf(call.row, chatRequestOf(call.row, body));
    setIgnoredFieldsHeader(response, quote.asked.ignored);
    const id = toCompletionId(call.executionId);
    const own = { id, created: this.clock.nowSeconds(), model: call.modelName };
    if (!body.stream) {
      return sendCharged(response, this.answers.complete(call, quote, new CompletionFace(own)));
    }
    const events = new SseWriter(response);
    const face = new ChunkFace(events, own, body.stream_options?.include_usage === true);
    // The stream is not awaited: a promise that Nest and Express await keeps 1.5 kB in memory for each open stream.
    return void this.streams.stream(call, quote, face, events).catch(next);
  }
}

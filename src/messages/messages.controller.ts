import { Controller, HttpCode, Next, Post, Res, SetMetadata, UseGuards } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { NextFunction, Response } from 'express';
import { type AdmittedCall, Call } from '../admission/admitted-call.js';
import { TextEndpoint } from '../admission/call-endpoint.decorators.js';
import { ModelGuard, OPERATION } from '../admission/model.guard.js';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { ErrorResponses, OverloadedResponse } from '../common/errors/error-responses.decorator.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { type OpenBody, OpenBodyOf, STRICT_HEADERS } from '../common/validation/open-body.js';
import { BodyLimit, JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { KEY_HEADERS } from '../platform/http-server/responses/answer-copy.js';
import {
  CHARGE_HEADERS,
  IGNORED_FIELDS_HEADERS,
  OUTPUT_CAP_HEADERS,
  sendCharged,
  setEstimateHeader,
  TOKEN_COUNT_HEADERS,
} from '../platform/http-server/responses/gateway-headers.js';
import { MESSAGE_SCHEMAS } from './dto/message-blocks.schema.js';
import { COUNT_EXAMPLES, MESSAGE_EXAMPLES } from './dto/message-examples.js';
import {
  MESSAGE_EVENT_EXAMPLE,
  MessageEventView,
  MessageTokensView,
  MessageView,
} from './dto/message.view.js';
import { MessagesBody } from './dto/messages.body.js';
import { MessageQuotes } from './message-quotes.js';
import { MessagesService } from './messages.service.js';

/** A conversation with its images is part of the body. */
const BODY_BYTES = 32 * 1024 * 1024;

/** Messages: text in the protocol of Anthropic's clients. */
@ApiExtraModels(MessageView, MessageEventView, ...MESSAGE_SCHEMAS)
@Controller()
export class MessagesController {
  constructor(
    private readonly messages: MessagesService,
    private readonly quotes: MessageQuotes,
  ) {}

  @TextEndpoint({ path: '/v1/messages' })
  @BodyLimit(BODY_BYTES)
  @BodyExamples(MessagesBody, MESSAGE_EXAMPLES)
  @ApiHeader(STRICT_HEADERS)
  @OverloadedResponse()
  @ApiOperation({
    summary: 'Text with tools, for clients of Messages',
    description:
      'One JSON object, or with `stream` server-sent events that end with `message_stop`. ' +
      'A stream that breaks ends with the event `error` and is not charged. ' +
      'The key may be in `x-api-key`. Errors are `{type: "error", error, request_id}`. ' +
      'Fields that nobody knows are left out and named in `x-gateway-ignored-fields`.',
  })
  @ApiOkResponse({
    description: 'The message',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(MessageView) } },
      'text/event-stream': {
        schema: { $ref: getSchemaPath(MessageEventView) },
        example: MESSAGE_EVENT_EXAMPLE,
      },
    },
    headers: {
      ...CHARGE_HEADERS,
      ...IGNORED_FIELDS_HEADERS,
      ...OUTPUT_CAP_HEADERS,
      ...KEY_HEADERS,
    },
  })
  createMessage(
    @Call() call: AdmittedCall<'chat'>,
    @OpenBodyOf(MessagesBody) sent: OpenBody<MessagesBody>,
    @Res() response: Response,
    @Next() next: NextFunction,
  ): Promise<void> | undefined {
    // The stream is not awaited: a promise that Nest and Express await keeps 1.5 kB in memory for each open stream.
    return sent.body.stream
      ? void this.messages.stream(call, sent, response).catch(next)
      : sendCharged(response, this.messages.answer(call, sent, response));
  }

  @Post('v1/messages/count_tokens')
  @ApiTags('chat')
  @HttpCode(200)
  @SetMetadata(OPERATION, 'chat')
  @UseGuards(JsonBodyGuard, ModelGuard)
  // Below the others, so that its guards come first.
  @ApiKeyAuth('call')
  @BodyLimit(BODY_BYTES)
  @BodyExamples(MessagesBody, COUNT_EXAMPLES)
  @ApiHeader(STRICT_HEADERS)
  @ApiOperation({
    summary: 'How many tokens the prompt of a message has',
    description: 'Counted here and free: an estimate. Images count 4,096 tokens each.',
  })
  @ApiOkResponse({ type: MessageTokensView, headers: TOKEN_COUNT_HEADERS })
  @ErrorResponses(
    'invalid_request',
    'invalid_content_type',
    'request_too_large',
    'model_not_found',
    'model_wrong_kind',
    'api_key_model_not_allowed',
    'insufficient_user_quota',
    'no_eligible_route',
  )
  async countMessageTokens(
    @CurrentCaller() { accountId }: Caller,
    @OpenBodyOf(MessagesBody) sent: OpenBody<MessagesBody>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MessageTokensView> {
    setEstimateHeader(response);
    return this.quotes.countTokens(accountId, sent);
  }
}

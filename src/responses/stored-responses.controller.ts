import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Res,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ModelGuard, OPERATION } from '../admission/model.guard.js';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { type OpenBody, OpenBodyOf, STRICT_HEADERS } from '../common/validation/open-body.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { BodyLimit, JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { BackgroundReads } from './background/background-reads.js';
import { InputItemsQuery, RetrieveResponseQuery } from './dto/response.queries.js';
import { TOKEN_EXAMPLES } from './dto/response-examples.js';
import { ResponseView } from './dto/response.view.js';
import { ResponsesBody } from './dto/responses.body.js';
import {
  DeletedResponseView,
  InputItemsView,
  InputTokensView,
} from './dto/stored-response.view.js';
import { ResponseQuotes } from './response-quotes.js';
import { ResponseReads } from './response-reads.js';
import { RESPONSES_BODY_BYTES } from './responses.controller.js';

/** Responses that are stored, and the count of tokens of one that is not made. */
@ApiTags('chat')
@ApiKeyAuth('call')
@Controller('v1/responses')
export class StoredResponsesController {
  constructor(
    private readonly reads: ResponseReads,
    private readonly quotes: ResponseQuotes,
    private readonly background: BackgroundReads,
  ) {}

  @Post('input_tokens')
  @HttpCode(200)
  @SetMetadata(OPERATION, 'chat')
  @UseGuards(JsonBodyGuard, ModelGuard)
  @BodyLimit(RESPONSES_BODY_BYTES)
  @BodyExamples(ResponsesBody, TOKEN_EXAMPLES)
  @ApiHeader(STRICT_HEADERS)
  @ApiOperation({
    summary: 'How many tokens the conversation of a response has',
    description: 'Counted here and free. Images count 4,096 tokens each.',
  })
  @ApiOkResponse({ type: InputTokensView })
  @ErrorResponses(
    'invalid_request',
    'previous_response_not_found',
    'invalid_content_type',
    'request_too_large',
    'model_not_found',
    'model_wrong_kind',
    'api_key_model_not_allowed',
    'insufficient_user_quota',
    'no_eligible_route',
  )
  countInputTokens(
    @CurrentCaller() { accountId }: Caller,
    @OpenBodyOf(ResponsesBody) sent: OpenBody<ResponsesBody>,
  ): Promise<InputTokensView> {
    return this.quotes.countTokens(accountId, sent);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'A stored response',
    description:
      'As it was answered, with its usage and its charge. Only responses of this account are found, until they expire.',
  })
  @ApiOkResponse({ type: ResponseView })
  @ErrorResponses('invalid_request', 'not_found')
  retrieveResponse(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @StrictQuery() _query: RetrieveResponseQuery,
  ) {
    return this.background.response(accountId, id);
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Forget a stored response',
    description:
      'With the items that no other response lists. For readers it is gone at once; its bytes are removed within an hour.',
  })
  @ApiOkResponse({ type: DeletedResponseView })
  @ErrorResponses('not_found', 'conflict')
  async deleteResponse(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
  ): Promise<DeletedResponseView> {
    await this.background.refuseOpen(accountId, id);
    await this.reads.forget(accountId, id);
    return { id, object: 'response.deleted', deleted: true };
  }

  @Get(':id/input_items')
  @ApiOperation({
    summary: 'What a response was made from',
    description:
      'The items of the conversation before the answer, those of earlier turns included, newest first.',
  })
  @ApiOkResponse({ type: InputItemsView })
  @ErrorResponses('invalid_request', 'not_found')
  listInputItems(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
    @StrictQuery() query: InputItemsQuery,
  ) {
    return this.background.inputItems(accountId, id, query);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Cancel a response that is made in the background',
    description:
      'What was made is charged, as that of a stream whose client leaves; before the work has begun it is free. A response that has ended is answered as it is. Any other response is refused.',
  })
  @ApiOkResponse({ type: ResponseView })
  @ErrorResponses('invalid_request', 'not_found')
  cancelResponse(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.background.cancel(caller, id, response);
  }
}

import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { KeyActionsInterceptor } from '../auth/acts/key-actions.interceptor.js';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import {
  ApiKeyPage,
  ApiKeyView,
  IssuedKeyView,
  viewIssuedKey,
  viewKey,
} from '../auth/api-key.view.js';
import type { Caller } from '../auth/caller.js';
import { CreateKeyBody, UpdateKeyBody } from '../auth/dto/key-terms.body.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { ClearedFields, StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { OwnKeysService } from './own-keys.service.js';

/** Keys of the caller's account, for keys with scope `manage` (API: GET /v1/keys). */
@ApiTags('account')
@ApiKeyAuth('manage')
@UseInterceptors(KeyActionsInterceptor)
@Controller('v1/keys')
export class OwnKeysController {
  constructor(private readonly keys: OwnKeysService) {}

  @Get()
  @ApiOperation({
    summary: 'Keys of this account, newest first',
    description: 'Without their texts. Revoked and expired keys are listed too.',
  })
  @ApiOkResponse({ type: ApiKeyPage })
  @ErrorResponses('invalid_request')
  async listKeys(@CurrentCaller() caller: Caller, @StrictQuery() query: PageQuery) {
    return viewPage(await this.keys.list(caller, query), viewKey);
  }

  @Post()
  @UseGuards(JsonBodyGuard)
  @BodyExamples(CreateKeyBody, {
    agent: { name: 'agent 7', spend_limit_microusd: '2000000', spend_limit_period: 'day' },
  })
  @ApiOperation({
    summary: 'Make a key; its text is shown only here',
    description:
      'It gets no more power, limit or life than this key: what the body does not name is as this key has it. What it spends counts for this key too, and it ends with this key. At most 100 live keys.',
  })
  @ApiCreatedResponse({ type: IssuedKeyView })
  @ErrorResponses('invalid_request', 'invalid_content_type', 'conflict', 'request_too_large')
  async createKey(@CurrentCaller() caller: Caller, @StrictBody() body: CreateKeyBody) {
    return viewIssuedKey(await this.keys.create(caller, body));
  }

  @Get(':id')
  @ApiOperation({
    summary: 'One key of this account',
    description: 'Its scopes and limits, which key made it, and when it was last used.',
  })
  @ApiOkResponse({ type: ApiKeyView })
  @ErrorResponses('not_found')
  async retrieveAccountKey(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return viewKey(await this.keys.get(caller, id));
  }

  @Patch(':id')
  @UseGuards(JsonBodyGuard)
  @BodyExamples(UpdateKeyBody, { limit: { spend_limit_microusd: '1000000' } })
  @ApiOperation({
    summary: 'Change the terms of a key that this key made',
    description:
      'What is absent stays, null clears. Holds on every replica within 2 s. Of itself a key changes only the name.',
  })
  @ApiOkResponse({ type: ApiKeyView })
  @ErrorResponses(
    'invalid_request',
    'invalid_content_type',
    'not_found',
    'conflict',
    'request_too_large',
  )
  async updateKey(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @StrictBody() body: UpdateKeyBody,
    @ClearedFields() cleared: ReadonlySet<string>,
  ) {
    return viewKey(await this.keys.update(caller, id, body, cleared));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Revoke a key that this key made; refused on every replica within 2 s',
    description: 'There is no way back. Calls that are under way are finished.',
  })
  @ApiNoContentResponse()
  @ErrorResponses('not_found')
  revokeKey(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.keys.revoke(caller, id);
  }
}

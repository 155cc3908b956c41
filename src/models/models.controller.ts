import { Controller, Get, Param, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { wantsMessagesModels } from '../auth/sent-key.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { namesEntity, NotModifiedResponse } from '../platform/http-server/responses/entity-tag.js';
import { MessagesModelListView } from './messages-model.view.js';
import { ModelDetailView } from './model-detail.view.js';
import { ModelListView } from './model.view.js';
import { type ModelDocument, ModelsService } from './models.service.js';

/** Discovery of model ids and endpoint types (API: GET /v1/models). */
@ApiTags('models')
@ApiExtraModels(ModelListView, MessagesModelListView)
@ApiKeyAuth('read', 'call')
@Controller('v1/models')
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get()
  @ApiOperation({
    summary: 'Models this key may use',
    description:
      'Only models that are enabled and that the allowlist of the key contains, each with its price, limits and fields.',
  })
  @ApiHeader({
    name: 'anthropic-version',
    required: false,
    description:
      'With any value, the list has the text models alone, in the form of Messages, and `x-api-key` may have the key',
    schema: { type: 'string' },
  })
  @ApiOkResponse({
    description: 'The models; with `anthropic-version` in the form of Messages',
    schema: {
      oneOf: [
        { $ref: getSchemaPath(ModelListView) },
        { $ref: getSchemaPath(MessagesModelListView) },
      ],
    },
  })
  @NotModifiedResponse()
  async listModels(@CurrentCaller() caller: Caller, @Res() response: Response): Promise<void> {
    response.vary('anthropic-version');
    const isForMessages = wantsMessagesModels(response.req);
    send(
      response,
      isForMessages ? this.models.listForMessages(caller) : await this.models.list(caller),
    );
  }

  @Get(':id')
  @ApiOperation({
    summary: 'One model, with its price, limits and fields',
    description: 'The same record as in the list, and the endpoint on which the model runs.',
  })
  @ApiOkResponse({ type: ModelDetailView })
  @NotModifiedResponse()
  @ErrorResponses('model_not_found')
  async retrieveModel(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res() response: Response,
  ): Promise<void> {
    send(response, await this.models.get(caller, id));
  }
}

/** Express would not answer 304 to a `Cache-Control: no-cache`, which `fetch` adds to each `If-None-Match`. */
function send(response: Response, { json, etag }: ModelDocument): void {
  response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', 'private');
  if (namesEntity(response.req.get('if-none-match'), etag)) response.status(304).end();
  else response.type('json').send(json);
}

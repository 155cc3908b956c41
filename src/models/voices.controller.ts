import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { VOICES } from '../catalog/voices.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { ModelId } from '../common/validation/fields.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { ModelsService } from './models.service.js';
import { VoiceListView } from './voice.view.js';

/** Query of GET /v1/voices. */
export class VoicesQuery {
  @ModelId({ optional: true, description: 'The model whose voices are listed' })
  model?: string;
}

/** Discovery of the voices that speech, dialogue and voice changer take (API: GET /v1/voices). */
@ApiTags('models')
@ApiKeyAuth('read', 'call')
@Controller('v1/voices')
export class VoicesController {
  constructor(private readonly models: ModelsService) {}

  @Get()
  @ApiOperation({
    summary: 'The voices',
    description:
      'The premade voices, or with `model` those that the model takes. Each can be sent as `voice` by its id or by its name.',
  })
  @ApiOkResponse({ type: VoiceListView })
  @ErrorResponses('invalid_request', 'model_not_found')
  listVoices(
    @CurrentCaller() caller: Caller,
    @StrictQuery() { model }: VoicesQuery,
  ): VoiceListView {
    const data = model === undefined ? VOICES : this.models.voicesOf(caller, model);
    return { object: 'list', data };
  }
}

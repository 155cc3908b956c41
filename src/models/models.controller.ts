import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { WithKey } from '../auth/with-key.decorator.js';
import { ErrorAnswers } from '../common/errors/error-answers.decorator.js';
import { ModelDetailView } from './model-detail.view.js';
import { ModelListView } from './model.view.js';
import { ModelsService } from './models.service.js';

/** Discovery of model ids and endpoint types (spec: GET /v1/models). */
@ApiTags('models')
@WithKey()
@Controller('v1/models')
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get()
  @ApiOperation({ summary: 'Models this key may use' })
  @ApiOkResponse({ type: ModelListView })
  listModels(@CurrentCaller() caller: Caller): ModelListView {
    return this.models.list(caller);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One model, with its price, limits and fields' })
  @ApiOkResponse({ type: ModelDetailView })
  @ErrorAnswers('model_not_found')
  retrieveModel(@CurrentCaller() caller: Caller, @Param('id') id: string): ModelDetailView {
    return this.models.get(caller, id);
  }
}

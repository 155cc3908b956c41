import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { RunPage, RunView, viewRun } from '../billing/runs/run.view.js';
import { RunsService } from '../billing/runs/runs.service.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';

/** The runs of an account: what the calls of one job of an agent spent. */
@ApiTags('account')
@ApiKeyAuth('read')
@Controller('v1/runs')
export class RunsController {
  constructor(private readonly runs: RunsService) {}

  @Get()
  @ApiOperation({
    summary: 'Runs of this account, newest first',
    description:
      'A call counts in the run that its header `x-gateway-run` names. A run that is not used for 30 days is dropped; its usage stays.',
  })
  @ApiOkResponse({ type: RunPage })
  @ErrorResponses('invalid_request')
  async listRuns(@CurrentCaller() { accountId }: Caller, @StrictQuery() query: PageQuery) {
    return viewPage(await this.runs.list(accountId, query), viewRun);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'What one run of this account spent and holds',
    description: 'The id is the text of `x-gateway-run`, encoded for a URL.',
  })
  @ApiOkResponse({ type: RunView })
  @ErrorResponses('run_not_found')
  async retrieveRun(
    @CurrentCaller() { accountId }: Caller,
    @Param('id') id: string,
  ): Promise<RunView> {
    return viewRun(await this.runs.get(accountId, id));
  }
}

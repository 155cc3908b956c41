import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';
import { OverviewService } from './overview.service.js';
import { OverviewView, viewOverview } from './views/overview.view.js';

/** The state of the gateway at a glance (docs/operate/operations.md, "At a glance"). */
@OperatorEndpoint()
@Controller('admin/overview')
export class OverviewController {
  constructor(private readonly overview: OverviewService) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Is it well, and are the books right?',
    description:
      'The last audit, the sums of all accounts, the last 24 hours, what is late, and what waits for a person. Read from sums, so it is cheap; the same answer is given for 5 s. Debts and breakers are those of the process that answers.',
  })
  @ApiOkResponse({ type: OverviewView })
  async retrieveOverview(): Promise<OverviewView> {
    return viewOverview(await this.overview.read());
  }
}

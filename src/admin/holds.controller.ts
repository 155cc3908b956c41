import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { NeedsRole } from '../auth/operators/role.js';
import { AdminHoldsQuery, holdQueryOf } from '../billing/calls/dto/holds.query.js';
import { HoldPage, viewHold } from '../billing/calls/hold.view.js';
import { OpenHolds } from '../billing/calls/open-holds.js';
import { filterId } from '../common/ids/id-params.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';

/** What running calls and open tasks hold (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/holds')
export class HoldsController {
  constructor(private readonly holds: OpenHolds) {}

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Open holds, oldest first',
    description:
      'Money that running calls and open tasks of all accounts reserve, with its age. Filters can be combined.',
  })
  @ApiOkResponse({ type: HoldPage })
  async listAdminHolds(@StrictQuery() { account_id: account, ...query }: AdminHoldsQuery) {
    const accountId = filterId('acct', 'account_id', account);
    return viewPage(await this.holds.list(holdQueryOf(query, accountId)), viewHold);
  }
}

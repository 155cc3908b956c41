import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { holdQueryOf, HoldsQuery } from '../billing/calls/dto/holds.query.js';
import { HoldPage, viewHold } from '../billing/calls/hold.view.js';
import { OpenHolds } from '../billing/calls/open-holds.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { viewPage } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';

/** What running calls and open tasks of the account of a key hold. */
@ApiTags('account')
@ApiKeyAuth('read')
@Controller('v1/holds')
export class OwnHoldsController {
  constructor(private readonly holds: OpenHolds) {}

  @Get()
  @ApiOperation({
    summary: 'What holds the money of this account, oldest first',
    description:
      'Each call and task that is under way, with what it reserves and since when. Together they are `held_microusd` of `GET /v1/account`. Filters can be combined.',
  })
  @ApiOkResponse({ type: HoldPage })
  @ErrorResponses('invalid_request')
  async listHolds(@CurrentCaller() { accountId }: Caller, @StrictQuery() query: HoldsQuery) {
    return viewPage(await this.holds.list(holdQueryOf(query, accountId)), viewHold);
  }
}

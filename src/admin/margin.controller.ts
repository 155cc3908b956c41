import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { NeedsRole } from '../auth/operators/role.js';
import { MarginQuery } from '../billing/usage/dto/usage.query.js';
import { MarginPage } from '../billing/usage/margin.view.js';
import { UsageService } from '../billing/usage/usage.service.js';
import { CSV_DESCRIPTION } from '../billing/usage/usage.view.js';
import { filterId } from '../common/ids/id-params.js';
import { PageOrCsv } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';

/** What is earned and lost (docs/operate/accounting.md, "Cost and margin"). */
@OperatorEndpoint()
@Controller('admin/margin')
export class MarginController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @NeedsRole('finance')
  @ApiOperation({
    summary: 'What was charged, what it cost at the providers, and what is left',
    description: `Grouped by \`model\` unless \`group_by\` says otherwise. A margin is null where the cost of a call that succeeded is not known. ${CSV_DESCRIPTION}`,
  })
  @PageOrCsv(MarginPage)
  retrieveMargin(
    @StrictQuery() { account_id: accountId, ...query }: MarginQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.usage.respondMargins(query, filterId('acct', 'account_id', accountId), response);
  }
}

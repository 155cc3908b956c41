import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { NeedsRole } from '../auth/operators/role.js';
import { filterId } from '../common/ids/id-params.js';
import { PageOrCsv } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { AdminUsageQuery } from '../billing/usage/dto/usage.query.js';
import { UsageService } from '../billing/usage/usage.service.js';
import { AdminUsagePage } from '../billing/usage/admin-usage.view.js';
import { CSV_DESCRIPTION } from '../billing/usage/usage.view.js';
import { CostsInCsv } from './shown-by-role.interceptor.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';

/** Usage of all accounts (docs/operate/operations.md, "Usage"). */
@OperatorEndpoint()
@Controller('admin/usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @CostsInCsv()
  @NeedsRole('viewer')
  @ApiOperation({
    summary:
      'What was used, by day, hour, model, key, endpoint, run, account, provider or upstream model',
    description: `Equals the ledger. ${CSV_DESCRIPTION}`,
  })
  @PageOrCsv(AdminUsagePage)
  retrieveAdminUsage(
    @StrictQuery() { account_id: accountId, ...query }: AdminUsageQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    const scope = { accountId: filterId('acct', 'account_id', accountId), isOperator: true };
    return this.usage.respond(query, scope, response);
  }
}

import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { asksForAll, entryQueryOf, OwnLedgerQuery } from '../billing/ledger/dto/ledger.query.js';
import {
  csvOfOwnEntries,
  OwnLedgerEntryPage,
  viewOwnEntry,
} from '../billing/ledger/ledger-entry.view.js';
import { answerEntries } from '../billing/statements/ledger-pages.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { StatementQuery } from '../billing/statements/dto/statement.query.js';
import { StatementAnswers } from '../billing/statements/statement-answers.js';
import { STATEMENT_DESCRIPTION, StatementResponse } from '../billing/statements/statement.view.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { PageOrCsv } from '../common/paging/page.view.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { CsvStreams, type SendPages } from '../platform/http-server/responses/csv-streams.js';
import { AccountService } from './account.service.js';
import { BillingSubscriptionView, BillingUsageView, CreditsView } from './billing.view.js';
import { BillingUsageQuery } from './dto/billing-usage.query.js';

/** The ledger of the account of a key, its statements, and the balance as other gateways answer it. */
@ApiTags('account')
@ApiKeyAuth('read')
@Controller('v1')
export class OwnLedgerController {
  constructor(
    private readonly ledger: LedgerService,
    private readonly statements: StatementAnswers,
    private readonly accounts: AccountService,
    private readonly csv: CsvStreams,
  ) {}

  @Get('ledger')
  @ApiOperation({
    summary: 'Every movement of the money of this account, newest first',
    description:
      'Credits, charges, refunds and corrections, each with the balance after it. `format=csv` answers CSV with the same names, dates and USD: all entries or, with `limit`, a page, whose cursor is in `x-gateway-next-cursor`.',
  })
  @PageOrCsv(OwnLedgerEntryPage)
  @ErrorResponses('invalid_request')
  listLedger(
    @CurrentCaller() { accountId }: Caller,
    @StrictQuery() query: OwnLedgerQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    const face = { view: viewOwnEntry, csv: csvOfOwnEntries, fileName: 'ledger.csv' };
    const sendAll = asksForAll(query) ? this.sendAllOf(accountId) : undefined;
    const scope = { accountId, format: query.format, sendAll };
    return answerEntries(this.ledger, scope, entryQueryOf(query), face, response);
  }

  @Get('statements/:month')
  @ApiOperation({
    summary: 'The statement of a month of this account',
    description: STATEMENT_DESCRIPTION,
  })
  @StatementResponse()
  @ErrorResponses('invalid_request', 'not_found')
  retrieveStatement(
    @CurrentCaller() { accountId }: Caller,
    @Param('month') month: string,
    @StrictQuery() { format }: StatementQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    const reader = { format, sendAll: this.sendAllOf(accountId) };
    return this.statements.answer(accountId, month, reader, response);
  }

  @Get('credits')
  @ApiOperation({
    summary: 'What was credited and used in all, in USD',
    description: 'For tools that read it. `GET /v1/account` has the balance in whole micro-USD.',
  })
  @ApiOkResponse({ type: CreditsView })
  retrieveCredits(@CurrentCaller() { accountId }: Caller): Promise<CreditsView> {
    return this.accounts.credits(accountId);
  }

  @Get('dashboard/billing/subscription')
  @ApiOperation({
    summary: 'What was credited in all, as dashboards read it',
    description:
      'For tools that read it: the limit less `total_usage` of all days is the balance. `GET /v1/account` has it in whole micro-USD.',
  })
  @ApiOkResponse({ type: BillingSubscriptionView })
  retrieveBillingSubscription(@CurrentCaller() caller: Caller): Promise<BillingSubscriptionView> {
    return this.accounts.subscription(caller);
  }

  @Get('dashboard/billing/usage')
  @ApiOperation({
    summary: 'What was used in some days, in cents, as dashboards read it',
    description: 'For tools that read it. `GET /v1/usage` has it by day, model, key and endpoint.',
  })
  @ApiOkResponse({ type: BillingUsageView })
  @ErrorResponses('invalid_request')
  retrieveBillingUsage(
    @CurrentCaller() { accountId }: Caller,
    @StrictQuery() query: BillingUsageQuery,
  ): Promise<BillingUsageView> {
    return this.accounts.billingUsage(accountId, query);
  }

  private sendAllOf(accountId: string): SendPages {
    return (pages) => this.csv.open(accountId, pages);
  }
}

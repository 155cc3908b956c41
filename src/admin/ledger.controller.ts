import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { NeedsRole } from '../auth/operators/role.js';
import { StatementQuery } from '../billing/statements/dto/statement.query.js';
import { StatementAnswers } from '../billing/statements/statement-answers.js';
import { STATEMENT_DESCRIPTION, StatementResponse } from '../billing/statements/statement.view.js';
import { filterId, pathId } from '../common/ids/id-params.js';
import { toPublicId } from '../common/ids/public-id.js';
import { PageOrCsv } from '../common/paging/page.view.js';
import { CsvStreams, type SendPages } from '../platform/http-server/responses/csv-streams.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { AllLedgerQuery, LedgerQuery } from './dto/admin.queries.js';
import { OperatorEndpoint } from './operator-endpoint.decorator.js';
import { OperatorLedger } from './operator-ledger.js';
import { LedgerEntryPage } from './views/ledger-entry.view.js';

/** The bucket of all operators. */
const OPERATORS = 'operators';
const CSV_DESCRIPTION =
  '`format=csv` answers CSV with the same names, the name of the account, dates and USD: all entries or, with `limit`, a page, whose cursor is in `x-gateway-next-cursor`.';

/** The ledger of one account and of all, and statements (docs/operate/accounting.md). */
@OperatorEndpoint()
@Controller('admin')
export class LedgerController {
  constructor(
    private readonly ledger: OperatorLedger,
    private readonly statements: StatementAnswers,
    private readonly csv: CsvStreams,
  ) {}

  private readonly sendAll: SendPages = (pages) => this.csv.open(OPERATORS, pages);

  @Get('accounts/:id/ledger')
  @NeedsRole('viewer')
  @ApiOperation({ summary: 'Ledger entries, newest first', description: CSV_DESCRIPTION })
  @PageOrCsv(LedgerEntryPage)
  listLedgerEntries(
    @Param('id') id: string,
    @StrictQuery() query: LedgerQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.ledger.answer(id, query, response, this.sendAll);
  }

  @Get('accounts/:id/statements/:month')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'The statement of a month of an account',
    description: `With the name of the account. ${STATEMENT_DESCRIPTION}`,
  })
  @StatementResponse()
  retrieveAdminStatement(
    @Param('id') id: string,
    @Param('month') month: string,
    @StrictQuery() { format }: StatementQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    const reader = { format, isOperator: true, sendAll: this.sendAll };
    return this.statements.answer(pathId('acct', id), month, reader, response);
  }

  @Get('ledger')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Ledger entries of all accounts',
    description: `One account after the other, each newest first. ${CSV_DESCRIPTION}`,
  })
  @PageOrCsv(LedgerEntryPage)
  listAdminLedgerEntries(
    @StrictQuery() { account_id: account, ...query }: AllLedgerQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    const accountId = filterId('acct', 'account_id', account);
    const id = accountId === undefined ? undefined : toPublicId('acct', accountId);
    return this.ledger.answer(id, query, response, this.sendAll);
  }
}

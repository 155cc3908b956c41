import { Controller, Get, Headers, Param, Post } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { viewAccount, viewEntry, viewIssuedKey, viewKey, viewPage } from './admin.views.js';
import { CreateAccountBody, CreateKeyBody, CreditBody } from './dto/admin.bodies.js';
import { PageQuery } from './dto/admin.queries.js';
import { OperatorEndpoint, TakesJson } from './operator-endpoint.decorator.js';
import { OperatorService } from './operator.service.js';

/** Accounts, their money and their keys (interface: Operator API). */
@OperatorEndpoint()
@Controller('admin/accounts')
export class AccountsController {
  constructor(private readonly operator: OperatorService) {}

  @Post()
  @TakesJson()
  @ApiOperation({ summary: 'Create an account' })
  async create(@StrictBody() body: CreateAccountBody) {
    return viewAccount(await this.operator.createAccount(body.name));
  }

  @Get()
  @ApiOperation({ summary: 'List accounts, newest first' })
  async list(@StrictQuery() query: PageQuery) {
    return viewPage(await this.operator.accounts(query), viewAccount);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One account' })
  async get(@Param('id') id: string) {
    return viewAccount(await this.operator.account(id));
  }

  @Post(':id/credits')
  @TakesJson()
  @ApiHeader({ name: 'Idempotency-Key', required: true })
  @ApiOperation({ summary: 'Credit an account; a negative amount corrects' })
  async credit(
    @Param('id') id: string,
    @StrictBody() body: CreditBody,
    @Headers('idempotency-key') key?: string,
  ) {
    return viewEntry(await this.operator.credit(id, body, key));
  }

  @Get(':id/ledger')
  @ApiOperation({ summary: 'Ledger entries, newest first' })
  async ledger(@Param('id') id: string, @StrictQuery() query: PageQuery) {
    return viewPage(await this.operator.entries(id, query), viewEntry);
  }

  @Post(':id/keys')
  @TakesJson()
  @ApiOperation({ summary: 'Issue an API key; its text is shown only here' })
  async createKey(@Param('id') id: string, @StrictBody() body: CreateKeyBody) {
    return viewIssuedKey(await this.operator.createKey(id, body));
  }

  @Get(':id/keys')
  @ApiOperation({ summary: 'Keys of an account, newest first' })
  async listKeys(@Param('id') id: string, @StrictQuery() query: PageQuery) {
    return viewPage(await this.operator.listKeys(id, query), viewKey);
  }
}

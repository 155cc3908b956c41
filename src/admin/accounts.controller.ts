import { Controller, Get, Headers, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { MovesMoney, NeedsRole } from '../auth/operators/role.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { ClearedFields, StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { CreateAccountBody, CreditBody, UpdateAccountBody } from './dto/admin.bodies.js';
import { CreateKeyBody } from '../auth/dto/key-terms.body.js';
import { AccountsQuery } from './dto/admin.queries.js';
import { OperatorKeys } from './operator-keys.js';
import { PageQuery } from '../common/paging/page.query.js';
import {
  IdempotencyKeyHeader,
  OperatorEndpoint,
  TakesJson,
} from './operator-endpoint.decorator.js';
import { OperatorService } from './operator.service.js';
import { viewPage } from '../common/paging/page.view.js';
import {
  AccountDetailView,
  AccountRecordPage,
  AccountRecordView,
  viewAccount,
  viewAccountDetail,
  viewListedAccount,
} from './views/account-record.view.js';
import { LedgerEntryView } from './views/ledger-entry.view.js';
import { answerEntry, REPLAY_HEADERS } from './replayed-entry.js';
import { ApiKeyPage, IssuedKeyView, viewKey, viewIssuedKey } from '../auth/api-key.view.js';

/** Accounts, their money and their keys (docs/operate/operations.md). */
@OperatorEndpoint()
@Controller('admin/accounts')
export class AccountsController {
  constructor(
    private readonly operator: OperatorService,
    private readonly keys: OperatorKeys,
  ) {}

  @Post()
  @NeedsRole('support')
  @TakesJson()
  @BodyExamples(CreateAccountBody, { account: { name: 'acme' } })
  @ApiOperation({
    summary: 'Create an account',
    description: 'The account begins with nothing: credit it, then issue a key.',
  })
  @ApiCreatedResponse({ type: AccountRecordView })
  async createAccount(@StrictBody() body: CreateAccountBody) {
    return viewAccount(await this.operator.createAccount(body));
  }

  @Get()
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'List accounts, newest first',
    description:
      'Each with its balance and what it spends per day. `name` finds accounts whose name begins with a text, `available_below` and `sort` those that run dry.',
  })
  @ApiOkResponse({ type: AccountRecordPage })
  async listAccounts(@StrictQuery() query: AccountsQuery) {
    return viewPage(await this.operator.accounts(query), viewListedAccount);
  }

  @Get(':id')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'One account',
    description:
      'Its name, its balance with the credits that it consists of, and whether it is disabled.',
  })
  @ApiOkResponse({ type: AccountDetailView })
  async retrieveAdminAccount(@Param('id') id: string) {
    return viewAccountDetail(await this.operator.account(id));
  }

  @Patch(':id')
  @NeedsRole('admin')
  @MovesMoney()
  @TakesJson()
  @BodyExamples(UpdateAccountBody, { rename: { name: 'acme europe' } })
  @ApiOperation({
    summary:
      'Name an account anew, disable or enable it, give it a price book or a mark of a low balance, or keep its answers',
    description:
      'What is absent stays; `price_book: null` leaves its book. The keys of a disabled account are refused within 2 s on every replica; calls under way are finished.',
  })
  @ApiOkResponse({ type: AccountRecordView })
  async updateAccount(
    @Param('id') id: string,
    @StrictBody() body: UpdateAccountBody,
    @ClearedFields() cleared: ReadonlySet<string>,
  ) {
    return viewAccount(await this.operator.updateAccount(id, body, cleared));
  }

  @Post(':id/credits')
  @NeedsRole('finance')
  @MovesMoney()
  @TakesJson()
  @IdempotencyKeyHeader({ required: true })
  @BodyExamples(CreditBody, {
    credit: { amount_microusd: '5000000', payment_reference: 'invoice 17', currency: 'EUR' },
    grant: { amount_microusd: '1000000', credit_kind: 'granted', expires_at: 1_798_761_600 },
    correction: { amount_microusd: '-1500000', reason: 'billing_error' },
  })
  @ApiOperation({
    summary: 'Credit an account; a negative amount corrects',
    description:
      'Moves money once for each `Idempotency-Key`: a repeat answers the same entry with `x-gateway-replayed: true`, and moves nothing. A correction of more than is available answers 409. Granted money is spent before paid money, and of a kind first what expires first; what is left of a credit at `expires_at` expires within 5 s, but for what running calls and open tasks hold.',
  })
  @ApiCreatedResponse({ type: LedgerEntryView, headers: REPLAY_HEADERS })
  async creditAccount(
    @Param('id') id: string,
    @StrictBody() body: CreditBody,
    @Res({ passthrough: true }) response: Response,
    @Headers('Idempotency-Key') key?: string,
  ) {
    return answerEntry(await this.operator.credit(id, body, key), response);
  }

  @Post(':id/keys')
  @NeedsRole('support')
  @TakesJson()
  @BodyExamples(CreateKeyBody, { key: { name: 'production', requests_per_minute: 600 } })
  @ApiOperation({
    summary: 'Issue an API key; its text is shown only here',
    description:
      'Only a hash of the key is stored, so its text cannot be shown again. A key without limits may call every model.',
  })
  @ApiCreatedResponse({ type: IssuedKeyView })
  async createAdminKey(@Param('id') id: string, @StrictBody() body: CreateKeyBody) {
    return viewIssuedKey(await this.keys.create(id, body));
  }

  @Get(':id/keys')
  @NeedsRole('viewer')
  @ApiOperation({
    summary: 'Keys of an account, newest first',
    description: 'Without their texts. Revoked and expired keys are listed too.',
  })
  @ApiOkResponse({ type: ApiKeyPage })
  async listAdminKeys(@Param('id') id: string, @StrictQuery() query: PageQuery) {
    return viewPage(await this.keys.list(id, query), viewKey);
  }
}

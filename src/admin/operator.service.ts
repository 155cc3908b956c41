import { Inject, Injectable } from '@nestjs/common';
import { Accounts } from '../billing/accounts/accounts.js';
import type { AuditScope } from '../billing/audit/audit.js';
import { LedgerAudit } from '../billing/audit/ledger-audit.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { toPublicId } from '../common/ids/public-id.js';
import { filterId, notFound, pathId } from '../common/ids/id-params.js';
import { parseMicroUsd } from '../common/money/micro-usd.js';
import { executionQueryOf } from '../billing/calls/dto/executions.query.js';
import { ExecutionsService } from '../billing/calls/executions.service.js';
import type {
  CreateAccountBody,
  CreditBody,
  RefundBody,
  UpdateAccountBody,
} from './dto/admin.bodies.js';
import type { AccountsQuery, AdminExecutionsQuery, LedgerQuery } from './dto/admin.queries.js';
import { NEW_ACCOUNT_MONEY, type NewAccountMoney } from './new-account-money.js';
import { neededKey, sentRefund } from './sent-refund.js';

/** What operators do, for both the API and the command line. Ids are public ids; an unknown one is 404 `not_found`. */
@Injectable()
export class OperatorService {
  constructor(
    private readonly accountRecords: Accounts,
    private readonly ledger: LedgerService,
    private readonly executions: ExecutionsService,
    private readonly books: LedgerAudit,
    @Inject(NEW_ACCOUNT_MONEY) private readonly newMoney: NewAccountMoney,
  ) {}

  createAccount({ name, play_money: isPlay }: CreateAccountBody) {
    const chosen = isPlay ? 'play' : 'real';
    return this.accountRecords.create(name, isPlay === undefined ? this.newMoney() : chosen);
  }

  accounts({ name, ...page }: AccountsQuery) {
    return this.accountRecords.list({ ...page, namePrefix: name });
  }

  async updateAccount(id: string, { name, disabled }: UpdateAccountBody) {
    return this.accountRecords.update(pathId('acct', id), { name, isDisabled: disabled });
  }

  async account(id: string) {
    return this.accountRecords.get(pathId('acct', id));
  }

  /** Public id of the demo account. Throws 404 where there is none. */
  async demoAccount(): Promise<string> {
    const account = await this.accountRecords.demo();
    if (account === undefined) {
      const message =
        'There is no demo account: only a gateway whose embedded database has no account at its start makes one.';
      throw new GatewayError('not_found', message);
    }
    return toPublicId('acct', account.id);
  }

  /** Credits or corrects. Throws 400 without an idempotency key, 409 for the same key with another amount. */
  async credit(id: string, body: CreditBody, idempotencyKey: string | undefined) {
    const accountId = pathId('acct', id);
    return this.ledger.credit({
      accountId,
      amountMicroUsd: parseMicroUsd(body.amount_microusd) ?? 0n,
      idempotencyKey: neededKey(idempotencyKey),
      reference: body.note ?? null,
    });
  }

  async entries(id: string, query: LedgerQuery) {
    const { created_after: after, created_before: before, api_key_id: key, ...rest } = query;
    const times = { createdAfter: dateOf(after), createdBefore: dateOf(before) };
    const apiKeyId = filterId('key', 'api_key_id', key);
    const account = await this.account(id);
    return this.ledger.entries(account.id, { ...rest, ...times, apiKeyId });
  }

  listExecutions({ account_id: accountId, broken, ...query }: AdminExecutionsQuery) {
    const account = filterId('acct', 'account_id', accountId);
    return this.executions.list({
      ...executionQueryOf(query),
      accountId: account,
      isBroken: broken === undefined ? undefined : broken === 'true',
    });
  }

  async execution(id: string) {
    const execution = await this.executions.find(pathId('exec', id));
    if (!execution) throw notFound('exec');
    return execution;
  }

  /** Gives a part of the charge back, or what is left of it; see {@link LedgerService.refund}. */
  async refund(id: string, body: RefundBody, idempotencyKey: string | undefined) {
    if (id.startsWith('task_')) {
      const message = 'The id is of a task: use POST /admin/tasks/{id}/refund, or task:refund.';
      throw new GatewayError('invalid_request', message, { param: 'id' });
    }
    const refund = sentRefund(body, idempotencyKey);
    return this.ledger.refund({ of: 'execution', id: pathId('exec', id), ...refund });
  }

  audit(scope?: AuditScope) {
    return this.books.run(scope);
  }
}

function dateOf(epochSeconds: number | undefined): Date | undefined {
  return epochSeconds === undefined ? undefined : new Date(epochSeconds * 1000);
}

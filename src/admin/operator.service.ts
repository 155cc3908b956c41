import { parseMicroUsd } from '../common/money/micro-usd.js';
import { Inject, Injectable } from '@nestjs/common';
import { Accounts, type MoneyKind } from '../billing/accounts/accounts.js';
import type { AuditScope } from '../billing/audit/audit.js';
import { LedgerAudit } from '../billing/audit/ledger-audit.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { toPublicId } from '../common/ids/public-id.js';
import { filterId, notFound, pathId } from '../common/ids/id-params.js';
import { executionQueryOf } from '../billing/calls/dto/executions.query.js';
import { ExecutionsService } from '../billing/calls/executions.service.js';
import type {
  CreateAccountBody,
  CreditBody,
  RefundBody,
  UpdateAccountBody,
} from './dto/admin.bodies.js';
import type { AccountsQuery, AdminExecutionsQuery } from './dto/admin.queries.js';
import { sentCredit } from './sent-credit.js';
import { sentRefund } from './sent-refund.js';

const ACCOUNT_PREFIX = 'acct_';
/** Accounts of one name that a message lists at most. */
const MAX_NAMESAKES = 5;

/** Token of the {@link NewAccountMoney}. */
export const NEW_ACCOUNT_MONEY = Symbol('NEW_ACCOUNT_MONEY');

/**
 * The money of a new account where the operator does not choose: play money while the sandbox serves every provider, real
 * money otherwise (decision G-110).
 */
export type NewAccountMoney = () => MoneyKind;

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

  accounts({ name, available_below: below, ...page }: AccountsQuery) {
    const availableBelow = below === undefined ? undefined : parseMicroUsd(below);
    return this.accountRecords.list({ ...page, namePrefix: name, availableBelow });
  }

  /** Changes the fields in the body, and clears those in `cleared`. */
  async updateAccount(id: string, body: UpdateAccountBody, cleared: ReadonlySet<string>) {
    const { name, disabled, price_book: priceBook, low_balance_microusd: low } = body;
    const kept = low === undefined ? undefined : parseMicroUsd(low);
    return this.accountRecords.update(pathId('acct', id), {
      name,
      isDisabled: disabled,
      keepsAnswers: body.keep_answers,
      priceBook: cleared.has('price_book') ? null : priceBook,
      lowBalanceMicroUsd: cleared.has('low_balance_microusd') ? null : kept,
    });
  }

  async account(id: string) {
    return this.accountRecords.withCredits(pathId('acct', id));
  }

  /**
   * The public id of the account that is named by its id or by its name. Text that looks like an id is returned as it is. Throws
   * 404 where no account has the name, and 400 where several have it.
   */
  async accountIdOf(idOrName: string): Promise<string> {
    if (idOrName.startsWith(ACCOUNT_PREFIX)) return idOrName;
    const ids = (await this.accountRecords.idsOfName(idOrName, MAX_NAMESAKES)).map((id) =>
      toPublicId('acct', id),
    );
    const [id, ...others] = ids;
    const name = JSON.stringify(idOrName);
    if (id === undefined) {
      const message = `No account has the id or the name ${name}.`;
      throw new GatewayError('not_found', message, { param: 'id' });
    }
    if (others.length === 0) return id;
    const message = `Several accounts have the name ${name}, so name one by its id: ${ids.join(', ')}.`;
    throw new GatewayError('invalid_request', message, { param: 'id' });
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

  /** Credits or corrects. Throws 400 without an idempotency key and for a reason of a credit, 409 for the same key with another amount or other terms. */
  async credit(id: string, body: CreditBody, idempotencyKey: string | undefined) {
    const accountId = pathId('acct', id);
    return this.ledger.credit({ accountId, ...sentCredit(body, idempotencyKey) });
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

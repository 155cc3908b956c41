import { Injectable } from '@nestjs/common';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import type { Caller } from '../auth/caller.js';
import { viewBalance } from '../billing/accounts/account-credit.view.js';
import type { AccountWithCredits } from '../billing/accounts/account-credits.js';
import { Accounts, noAccount } from '../billing/accounts/accounts.js';
import { toPublicId } from '../common/ids/public-id.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import type { LowBalanceBody } from './dto/low-balance.body.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import type { Page } from '../common/paging/page.js';
import { type ExecutionsQuery, executionQueryOf } from '../billing/calls/dto/executions.query.js';
import type { Execution } from '../billing/calls/execution.js';
import { ExecutionsService } from '../billing/calls/executions.service.js';
import { type ExecutionView, viewExecution } from '../billing/calls/execution.view.js';
import { AccountUsage, type AccountTotals } from '../billing/usage/account-usage.js';
import { UsageReports } from '../billing/usage/usage-reports.js';
import { Clock } from '../common/time/clock.js';
import { DAY_MS } from '../common/time/spans.js';
import type { AccountView } from './account.view.js';
import {
  type BillingSubscriptionView,
  type BillingUsageView,
  type CreditsView,
  viewBillingUsage,
  viewCredits,
  viewSubscription,
} from './billing.view.js';
import { billingDaysOf, type BillingUsageQuery } from './dto/billing-usage.query.js';
import { type KeyView, leftOf, viewOwnKey } from './key.view.js';

/** Ten years. */
const MAX_DAYS_AHEAD = 3_650n;

/** What the holder of a key may read about the own account. */
@Injectable()
export class AccountService {
  constructor(
    private readonly accounts: Accounts,
    private readonly executionsService: ExecutionsService,
    private readonly keys: ApiKeysService,
    private readonly usage: UsageReports,
    private readonly used: AccountUsage,
    private readonly clock: Clock,
  ) {}

  async account({ accountId, topUpUrl }: Caller): Promise<AccountView> {
    const account = await this.accounts.withCredits(accountId);
    const burn = await this.accounts.burn(accountId);
    const runsOutOn = dryDayOf(account.availableMicroUsd, burn, this.clock.nowMs());
    return {
      ...viewOwnAccount(account),
      burn_microusd_per_day: formatMicroUsd(burn),
      runs_out_on: runsOutOn,
      topup_url: topUpUrl ?? null,
    };
  }

  /** Sets the mark of a low balance, or clears it where `cleared` names it. An absent field changes nothing. */
  async markLow(
    caller: Caller,
    { low_balance_microusd: low }: LowBalanceBody,
    cleared: ReadonlySet<string>,
  ): Promise<AccountView> {
    const lowBalanceMicroUsd = low === undefined ? null : BigInt(low);
    if (low !== undefined || cleared.has('low_balance_microusd')) {
      await this.accounts.update(caller.accountId, { lowBalanceMicroUsd });
    }
    return this.account(caller);
  }

  async credits(accountId: string): Promise<CreditsView> {
    return viewCredits(await this.totals(accountId));
  }

  async subscription({ accountId, expiresAtMs }: Caller): Promise<BillingSubscriptionView> {
    return viewSubscription(await this.totals(accountId), expiresAtMs);
  }

  /** Throws 400 `invalid_request` where the query names no day. */
  async billingUsage(accountId: string, query: BillingUsageQuery): Promise<BillingUsageView> {
    const [from, to] = billingDaysOf(query, this.clock.nowMs());
    return viewBillingUsage(await this.used.between(accountId, from, to));
  }

  private async totals(accountId: string): Promise<AccountTotals> {
    const totals = await this.used.totals(accountId);
    if (totals === undefined) throw noAccount();
    return totals;
  }

  /** The caller's own key, with the terms that its maker leaves it. */
  async key(caller: Caller): Promise<KeyView> {
    const { apiKeyId, accountId } = caller;
    const key = await this.keys.find(apiKeyId);
    if (key === undefined) throw notFound('key');
    const { spendLimitMicroUsd: limit } = key;
    const spent =
      limit === null
        ? await this.usage.chargedTo(accountId, apiKeyId)
        : await this.keys.spentInPeriod(apiKeyId);
    return viewOwnKey(narrowed(key, caller), spent, await this.leftOfMaker(key));
  }

  /** What the limit of the key that made it leaves; null without one. */
  private async leftOfMaker({ makerId }: ApiKeyRecord): Promise<MicroUsd | null> {
    const maker = makerId === null ? undefined : await this.keys.find(makerId);
    if (typeof maker?.spendLimitMicroUsd !== 'bigint') return null;
    return leftOf(maker.spendLimitMicroUsd, await this.keys.spentInPeriod(maker.id));
  }

  /** Calls of the whole account, with any of its keys. */
  executions(caller: Caller, query: ExecutionsQuery): Promise<Page<Execution>> {
    return this.executionsService.list({ ...executionQueryOf(query), accountId: caller.accountId });
  }

  /** Throws the same 404 `not_found` for unknown, foreign and malformed ids. */
  async execution(caller: Caller, id: string): Promise<ExecutionView> {
    const execution = await this.executionsService.find(pathId('exec', id), caller.accountId);
    if (!execution) throw notFound('exec');
    return viewExecution(execution);
  }
}

/** The key as its calls are judged: what its maker lost since it was made, it has no more. */
function narrowed(
  key: ApiKeyRecord,
  { allowedModels, requestsPerMinute, expiresAtMs, scopes }: Caller,
): ApiKeyRecord {
  return {
    ...key,
    allowedModels: allowedModels && [...allowedModels],
    requestsPerMinute,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs),
    scopes,
  };
}

/** The date of UTC on which the money is spent; null beyond {@link MAX_DAYS_AHEAD}. */
function dryDayOf(available: MicroUsd, perDay: MicroUsd, nowMs: number): string | null {
  const days = perDay > 0n ? available / perDay : MAX_DAYS_AHEAD + 1n;
  if (days > MAX_DAYS_AHEAD) return null;
  return new Date(nowMs + Number(days) * DAY_MS).toISOString().slice(0, 10);
}

function viewOwnAccount(
  account: AccountWithCredits,
): Omit<AccountView, 'burn_microusd_per_day' | 'runs_out_on' | 'topup_url'> {
  const { lowBalanceMicroUsd: low } = account;
  return {
    object: 'account',
    id: toPublicId('acct', account.id),
    available_microusd: formatMicroUsd(account.availableMicroUsd),
    held_microusd: formatMicroUsd(account.heldMicroUsd),
    low_balance_microusd: low === null ? null : formatMicroUsd(low),
    credits: viewBalance(account.credits),
  };
}

import type { Caller } from './caller.js';
import type { Scope } from './scope.js';
import type { SpendPeriod } from './spend-limit.js';

/** A live key, its account, and the key that made it, which must be live too. */
const findCallersBy = (condition: string): string => `
  SELECT k.id, k.account_id, k.allowed_models, k.requests_per_minute, k.expires_at, k.spend_limit, k.spend_limit_period,
         k.scopes, topup_url_of(a.id) AS topup_url, a.play_money, a.keep_answers, a.disabled, a.price_book, m.id AS maker_id, m.allowed_models AS maker_models,
         m.requests_per_minute AS maker_requests, m.expires_at AS maker_expires_at, m.scopes AS maker_scopes
    FROM api_key k JOIN account a ON a.id = k.account_id LEFT JOIN api_key m ON m.id = k.maker_id
   WHERE ${condition} AND k.revoked_at IS NULL AND m.revoked_at IS NULL`;

/** The live key of a hash. */
export const FIND_CALLER = findCallersBy('k.hash = $1');

/** The live key of an id. */
export const FIND_CALLER_BY_ID = findCallersBy('k.id = $1');

/** The live keys of some ids. */
export const FIND_CALLERS_BY_ID = findCallersBy('k.id = ANY ($1::uuid[])');

/** A row of {@link FIND_CALLER}. */
export interface CallerRow {
  readonly id: string;
  readonly account_id: string;
  readonly allowed_models: string[] | null;
  readonly requests_per_minute: number | null;
  readonly expires_at: Date | null;
  readonly spend_limit: string | null;
  readonly spend_limit_period: SpendPeriod | null;
  readonly scopes: Scope[];
  readonly play_money: boolean;
  readonly keep_answers: boolean;
  readonly disabled: boolean;
  readonly price_book: string | null;
  readonly topup_url: string | null;
  /** Null: no key made it, and the fields below say nothing. */
  readonly maker_id: string | null;
  readonly maker_models: string[] | null;
  readonly maker_requests: number | null;
  readonly maker_expires_at: Date | null;
  readonly maker_scopes: Scope[] | null;
}

/** The caller, who may do no more than the key that made its key, whatever that may have lost since then. */
export function callerOf(row: CallerRow): Caller {
  const { spend_limit: limit, spend_limit_period: period, maker_scopes: makerScopes } = row;
  const ends = [row.expires_at, row.maker_expires_at].flatMap((end) => end?.getTime() ?? []);
  return {
    apiKeyId: row.id,
    accountId: row.account_id,
    allowedModels: modelsIn(row.allowed_models, row.maker_models),
    requestsPerMinute: leastOf(row.requests_per_minute, row.maker_requests),
    expiresAtMs: ends.length === 0 ? null : Math.min(...ends),
    scopes: row.scopes.filter((scope) => makerScopes?.includes(scope) ?? true),
    ...(row.maker_id !== null && { makerId: row.maker_id }),
    ...(row.maker_requests !== null && { makerRequestsPerMinute: row.maker_requests }),
    ...(row.play_money && { hasPlayMoney: true }),
    ...(row.keep_answers && { keepsAnswers: true }),
    ...(row.disabled && { isDisabled: true }),
    ...(row.price_book !== null && { priceBook: row.price_book }),
    ...(row.topup_url !== null && { topUpUrl: row.topup_url }),
    ...(limit !== null &&
      period !== null && { spendLimit: { amountMicroUsd: BigInt(limit), period } }),
  };
}

/** The models that both lists have; null is all models. */
function modelsIn(own: string[] | null, maker: string[] | null): ReadonlySet<string> | null {
  if (own === null || maker === null) return own === maker ? null : new Set(own ?? maker);
  return new Set(own.filter((id) => maker.includes(id)));
}

/** A maker without a limit has that of the gateway, as any other key. */
function leastOf(own: number | null, maker: number | null): number | null {
  return own === null || maker === null ? (own ?? maker) : Math.min(own, maker);
}

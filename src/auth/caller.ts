import type { Scope } from './scope.js';
import type { SpendLimit } from './spend-limit.js';

/** The caller of a request: a live API key and its account. */
export interface Caller {
  readonly apiKeyId: string;
  readonly accountId: string;
  /** Models that the key may use; null = all. It limits submissions, not reads (decision G-08). */
  readonly allowedModels: ReadonlySet<string> | null;
  /** The key's own rate limit; null = the default. */
  readonly requestsPerMinute: number | null;
  /** Milliseconds since the epoch; null = never. */
  readonly expiresAtMs: number | null;
  /** What the key may do (decision G-109). */
  readonly scopes: readonly Scope[];
  /** The key that made it, for which its spending and its requests count too; absent = an operator made it. */
  readonly makerId?: string;
  /** The rate limit of the key that made it; absent = the default. */
  readonly makerRequestsPerMinute?: number;
  /**
   * The account has play money, which pays for the sandbox's work only; absent = real money (decisions G-95, G-110).
   */
  readonly hasPlayMoney?: true;
  /** The most the key may spend; absent = no limit (decision G-99). */
  readonly spendLimit?: SpendLimit;
  /** The price book of the account; absent = the prices of the list. */
  readonly priceBook?: string;
  /** Where the account gets more money; absent = the operator names no page. */
  readonly topUpUrl?: string;
  /** The answers of its calls are kept for a day. */
  readonly keepsAnswers?: true;
  /** The account is disabled, so none of its requests is served (decision G-99). */
  readonly isDisabled?: true;
  /** The session of the console in which the call came; absent = it came with the key itself. */
  readonly sessionId?: string;
  /** A session of a portal link, which has no key: `apiKeyId` is its own id. */
  readonly isWithoutKey?: true;
  /** Set when the key is removed from the cache or loaded again: the other fields may be out of date. */
  isStale?: true;
}

/**
 * Whether the key may have a spend limit now, or counts for the key that made it. A request may take long between its
 * admission and its hold, and a limit that is set in between counts it too.
 */
export function mayHaveLimit({ spendLimit, makerId, isStale }: Caller): boolean {
  return spendLimit !== undefined || makerId !== undefined || isStale === true;
}

/** Whether the key's allowlist permits a model. */
export function mayUse(caller: Caller, modelId: string): boolean {
  return caller.allowedModels === null || caller.allowedModels.has(modelId);
}

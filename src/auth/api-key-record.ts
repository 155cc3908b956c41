import type { MicroUsd } from '../common/money/micro-usd.js';
import type { Scope } from './scope.js';
import type { SpendPeriod } from './spend-limit.js';

/** Everything about an API key except its text, which only its holder has. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string | null;
  /** The first characters of the key, by which people recognize it. */
  readonly prefix: string;
  /** Models that the key may use; null = all (API: Authentication). */
  readonly allowedModels: string[] | null;
  /** Its own rate limit; null = the gateway's default. */
  readonly requestsPerMinute: number | null;
  /** The spend limit of each period; both null = no limit. */
  readonly spendLimitMicroUsd: MicroUsd | null;
  readonly spendLimitPeriod: SpendPeriod | null;
  readonly scopes: readonly Scope[];
  /** The key that made it, or the successor of that key; null = an operator made it. */
  readonly makerId: string | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
  /** To the minute; null = never used. */
  readonly lastUsedAt: Date | null;
}

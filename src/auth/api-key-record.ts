import type { MicroUsd } from '../common/money/micro-usd.js';
import type { SpendPeriod } from './spend-limit.js';

/** What is known of an API key besides its text, which only its holder has. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly accountId: string;
  readonly name: string | null;
  /** The first characters of the key, to tell keys apart. */
  readonly prefix: string;
  /** Models the key may submit; null = all (spec: Authentication). */
  readonly allowedModels: string[] | null;
  /** Own rate limit; null = the gateway's default. */
  readonly requestsPerMinute: number | null;
  /** The most it may spend in each period; both null = no limit. */
  readonly spendLimitMicroUsd: MicroUsd | null;
  readonly spendLimitPeriod: SpendPeriod | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
  /** To the minute; null = never. */
  readonly lastUsedAt: Date | null;
}

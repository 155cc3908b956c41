import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { ApiKeyRecord } from './api-key-record.js';
import type { Scope } from './scope.js';
import type { SpendPeriod } from './spend-limit.js';

const AMOUNT = {
  from: (text: string | null) => (text === null ? null : BigInt(text)),
  to: (amount: MicroUsd | null) => amount?.toString() ?? null,
};

/** An API key of an account. Only its SHA-256 is stored; the key itself is shown once, when it is created. */
@Entity({ name: 'api_key' })
export class ApiKey implements ApiKeyRecord {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ type: 'uuid', name: 'account_id' })
  accountId!: string;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ type: 'text' })
  prefix!: string;

  @Column({ type: 'bytea' })
  hash!: Buffer;

  @Column({ type: 'text', array: true, nullable: true, name: 'allowed_models' })
  allowedModels!: string[] | null;

  @Column({ type: 'integer', nullable: true, name: 'requests_per_minute' })
  requestsPerMinute!: number | null;

  @Column({ type: 'bigint', nullable: true, name: 'spend_limit', transformer: AMOUNT })
  spendLimitMicroUsd!: MicroUsd | null;

  @Column({ type: 'text', nullable: true, name: 'spend_limit_period' })
  spendLimitPeriod!: SpendPeriod | null;

  /** When the limit was last set on a key that may have been used before. */
  @Column({ type: 'timestamptz', nullable: true, name: 'spend_limit_since' })
  spendLimitSince!: Date | null;

  @Column({ type: 'text', array: true })
  scopes!: Scope[];

  @Column({ type: 'uuid', nullable: true, name: 'maker_id' })
  makerId!: string | null;

  @Column({ type: 'timestamptz', nullable: true, name: 'expires_at' })
  expiresAt!: Date | null;

  /** The key that replaces it at its expiry, which is the end of an overlap. */
  @Column({ type: 'uuid', nullable: true, name: 'successor_id' })
  successorId!: string | null;

  @Column({ type: 'timestamptz', nullable: true, name: 'revoked_at' })
  revokedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;

  /** Comes from another table, which only lists read. */
  lastUsedAt: Date | null = null;
}

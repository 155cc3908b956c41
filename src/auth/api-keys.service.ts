import { Inject, Injectable, Optional } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, type Repository } from 'typeorm';
import { GatewayError } from '../common/errors/gateway-error.js';
import { toPublicId } from '../common/ids/public-id.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { cursorOf, type Page, pageOf, type PageRequest } from '../common/paging/page.js';
import { Clock } from '../common/time/clock.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import type { ApiKeyRecord } from './api-key-record.js';
import { ApiKey } from './api-key.entity.js';
import { hashKey, makeKey, prefixOf } from './api-key-format.js';
import { DEFAULT_SCOPES, type Scope } from './scope.js';
import type { SpendPeriod } from './spend-limit.js';

/** What is decided about a new key. */
export interface KeyTerms {
  readonly name: string | null;
  readonly allowedModels: string[] | null;
  readonly expiresAt: Date | null;
  readonly requestsPerMinute: number | null;
  readonly spendLimitMicroUsd?: MicroUsd | null;
  readonly spendLimitPeriod?: SpendPeriod | null;
  /** Absent: the default scopes. */
  readonly scopes?: readonly Scope[];
}

/** A new key. Its text is known only here. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** Issues, lists, revokes and rotates API keys (decision G-15). */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clock: Clock,
    @Optional() @Inject(GATEWAY_CONFIG) private readonly config?: Pick<GatewayConfig, 'cell'>,
  ) {}

  /** The same service on the keys of a transaction. */
  within(keys: Repository<ApiKey>): ApiKeysService {
    return new ApiKeysService(keys, this.clock, this.config);
  }

  /** Makes a key for an existing account. `makerId` is the key that makes it, null for an operator. */
  async issue(
    accountId: string,
    terms: KeyTerms,
    makerId: string | null = null,
  ): Promise<IssuedKey> {
    const key = makeKey(this.config?.cell);
    const nowMs = this.clock.nowMs();
    const record = this.keys.create({
      id: uuidV7(nowMs),
      accountId,
      spendLimitMicroUsd: null,
      spendLimitPeriod: null,
      ...terms,
      scopes: [...(terms.scopes ?? DEFAULT_SCOPES)],
      makerId,
      prefix: prefixOf(key),
      hash: hashKey(key),
      successorId: null,
      revokedAt: null,
      createdAt: new Date(nowMs),
    });
    await this.keys.insert(record);
    return { key, record };
  }

  /** Keys of an account, newest first, with the revoked ones. `before` is the id of the last key of the page before. */
  async list(
    accountId: string,
    limit: number,
    before: string | undefined,
  ): Promise<ApiKeyRecord[]> {
    const keys = await this.keys.find({
      where: { accountId, ...(before !== undefined && { id: LessThan(before) }) },
      order: { id: 'DESC' },
      take: limit,
    });
    return this.withUses(keys);
  }

  /** A page of the same list. Throws 400 for an invalid cursor. */
  async page(accountId: string, query: PageRequest): Promise<Page<ApiKeyRecord>> {
    const keys = await this.list(accountId, query.limit + 1, cursorOf(query, 'uuid') ?? undefined);
    const itself = (key: ApiKeyRecord) => key;
    return pageOf(keys, query.limit, itself, ({ id }) => id);
  }

  /** A key of any account, revoked or not; undefined when there is none. */
  async find(id: string): Promise<ApiKeyRecord | undefined> {
    const key = await this.keys.findOneBy({ id });
    return key === null ? undefined : (await this.withUses([key]))[0];
  }

  /**
   * Changes the given terms. Returns 'revoked' for a revoked key and undefined for an unknown one. `termsOf` gets the
   * present terms; what it throws is thrown on. Takes effect within 2 s.
   */
  update(
    id: string,
    termsOf: (present: ApiKeyRecord) => Partial<KeyTerms>,
  ): Promise<ApiKeyRecord | 'revoked' | undefined> {
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      const key = await keys.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      if (key === null) return undefined;
      if (key.revokedAt !== null) return 'revoked';
      const terms = termsOf(key);
      // TypeORM throws for an update without fields.
      if (Object.keys(terms).length > 0) await keys.update({ id }, changesOf(key, terms));
      return (await this.withUses([{ ...key, ...terms }]))[0];
    });
  }

  /** Revokes a key and those that it made; a second time changes nothing. Returns whether the key exists. */
  revoke(id: string): Promise<boolean> {
    const revokedAt = new Date(this.clock.nowMs());
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      await keys.update({ id, revokedAt: IsNull() }, { revokedAt });
      // After the maker, as everywhere: so no key can be made meanwhile.
      await keys.update({ makerId: id, revokedAt: IsNull() }, { revokedAt });
      return keys.existsBy({ id });
    });
  }

  /**
   * Issues a key with the scopes, allowlist, limits and expiry of a live key, which ends after the overlap. Its spend
   * counter starts with the amount that the old key has used, and the keys that the old one made are its own. Returns undefined when the id is of no live key. Throws 409
   * `conflict` for a key that is in its overlap already.
   */
  rotate(id: string, overlapMs: number): Promise<IssuedKey | undefined> {
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      await lockMaker(keys, id);
      const old = await keys.findOne({
        where: { id, revokedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      });
      const now = this.clock.nowMs();
      if (old === null || (old.expiresAt !== null && old.expiresAt.getTime() <= now))
        return undefined;
      if (old.successorId !== null) throw rotatedTo(old.successorId);
      const endMs = Math.min(now + overlapMs, old.expiresAt?.getTime() ?? Infinity);
      const issuer = this.within(keys);
      const issued = await issuer.issue(old.accountId, termsOf(old), old.makerId);
      const { id: successorId } = issued.record;
      await keys.update({ id }, { expiresAt: new Date(endMs), successorId });
      await keys.update({ makerId: id }, { makerId: successorId });
      // Last, because they lock the account.
      const passed = [old.accountId, id, successorId];
      await manager.query('SELECT key_pass_on($1, $2, $3)', passed);
      await manager.query('SELECT maker_pass_on($1, $2, $3)', passed);
      return issued;
    });
  }

  /** What counts against the key's limit in the present period: charges and open holds, also of keys that it made. */
  async spentInPeriod(id: string): Promise<MicroUsd> {
    const [row] = await this.keys.query<{ spent: string }[]>(SPENT_IN_PERIOD, [id]);
    return BigInt(row?.spent ?? 0);
  }

  private async withUses(keys: readonly ApiKeyRecord[]): Promise<ApiKeyRecord[]> {
    const rows = await this.keys.query<{ api_key_id: string; last_used_at: Date }[]>(
      'SELECT * FROM api_key_use WHERE api_key_id = ANY ($1)',
      [keys.map(({ id }) => id)],
    );
    const uses = new Map(rows.map((row) => [row.api_key_id, row.last_used_at]));
    return keys.map((key) => ({ ...key, lastUsedAt: uses.get(key.id) ?? null }));
  }
}

/**
 * Locks the key that made a key, before the key itself is locked, as everywhere. While its maker is locked, it gets no other: a
 * rotation of the maker, which gives its keys to the successor, would miss a successor of theirs that is being made.
 */
async function lockMaker(keys: Repository<ApiKey>, id: string): Promise<void> {
  const makerOf = async () => (await keys.findOneBy({ id }))?.makerId ?? null;
  let locked: string | null = null;
  for (let makerId = await makerOf(); makerId !== locked; makerId = await makerOf()) {
    locked = makerId;
    if (locked === null) return;
    await keys.findOne({ where: { id: locked }, lock: { mode: 'pessimistic_write' } });
  }
}

// The counter, if it exists. Until the first call of this period it still contains the previous period.
const SPENT_IN_PERIOD = `
  SELECT CASE WHEN s.spent IS NULL THEN key_spent(k.account_id, k.id, p.start)
              WHEN s.period_start < p.start THEN 0 ELSE s.spent END + maker_spent(k.account_id, k.id, p.start) AS spent
    FROM api_key k
   CROSS JOIN LATERAL (SELECT key_period_start(k.spend_limit_period, now()) AS start) p
    LEFT JOIN key_spend s ON s.account_id = k.account_id AND s.api_key_id = k.id AND s.period = k.spend_limit_period
                         AND s.begun_at > coalesce(k.spend_limit_since, '-infinity')
   WHERE k.id = $1`;

function changesOf(key: ApiKey, terms: Partial<KeyTerms>) {
  const { scopes, ...others } = terms;
  return {
    ...others,
    ...(scopes && { scopes: [...scopes] }),
    ...limitSince(key, terms),
    ...overlapEnded(terms),
  };
}

/** The terms of a key, as its successor gets them. */
function termsOf(key: ApiKeyRecord): KeyTerms {
  return {
    name: key.name,
    allowedModels: key.allowedModels,
    expiresAt: key.expiresAt,
    requestsPerMinute: key.requestsPerMinute,
    spendLimitMicroUsd: key.spendLimitMicroUsd,
    spendLimitPeriod: key.spendLimitPeriod,
    scopes: key.scopes,
  };
}

/** If the period of the limit changes, the counter starts again with what the key has spent in the new period. */
function limitSince(key: ApiKeyRecord, terms: Partial<KeyTerms>) {
  const { spendLimitPeriod: period = key.spendLimitPeriod } = terms;
  return period === key.spendLimitPeriod ? {} : { spendLimitSince: () => 'clock_timestamp()' };
}

/** A rotated key that gets a new expiry is no longer in its overlap. */
function overlapEnded(terms: Partial<KeyTerms>) {
  return terms.expiresAt === undefined ? {} : { successorId: null };
}

/** The expiry of a rotated key is the end of its overlap. A new key must not inherit it. */
function rotatedTo(successorId: string): GatewayError {
  const successor = toPublicId('key', successorId);
  return new GatewayError('conflict', `The key was rotated already. Rotate ${successor} instead.`);
}

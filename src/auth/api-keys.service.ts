import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, type Repository } from 'typeorm';
import { timeOrderedUuid } from '../common/ids/time-ordered-uuid.js';
import { Clock } from '../common/time/clock.js';
import type { ApiKeyRecord } from './api-key-record.js';
import { ApiKey } from './api-key.entity.js';
import { hashKey, makeKey, prefixOf } from './key-material.js';

/** What an operator decides about a new key. */
export interface KeyTerms {
  readonly name: string | null;
  readonly allowedModels: string[] | null;
  readonly expiresAt: Date | null;
  readonly requestsPerMinute: number | null;
}

/** A key as it is handed out, the only time its text is known. */
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
  ) {}

  /** Makes a key for an existing account. */
  async issue(accountId: string, terms: KeyTerms): Promise<IssuedKey> {
    const key = makeKey();
    const nowMs = this.clock.nowMs();
    const record = this.keys.create({
      id: timeOrderedUuid(nowMs),
      accountId,
      ...terms,
      prefix: prefixOf(key),
      hash: hashKey(key),
      revokedAt: null,
      createdAt: new Date(nowMs),
    });
    await this.keys.insert(record);
    return { key, record };
  }

  /** Keys of an account, newest first, revoked ones included; `before` is the id of the last key seen. */
  list(accountId: string, limit: number, before: string | undefined): Promise<ApiKeyRecord[]> {
    return this.keys.find({
      where: { accountId, ...(before !== undefined && { id: LessThan(before) }) },
      order: { id: 'DESC' },
      take: limit,
    });
  }

  /** Revokes a key; a second time changes nothing. Returns whether the key exists. */
  async revoke(id: string): Promise<boolean> {
    await this.keys.update(
      { id, revokedAt: IsNull() },
      { revokedAt: new Date(this.clock.nowMs()) },
    );
    return this.keys.existsBy({ id });
  }

  /**
   * Issues a key with the allowlist, limits and expiry of a live one, which dies after the overlap.
   * Returns undefined where the id names no live key.
   */
  rotate(id: string, overlapMs: number): Promise<IssuedKey | undefined> {
    return this.keys.manager.transaction(async (manager) => {
      const keys = manager.withRepository(this.keys);
      const old = await keys.findOne({
        where: { id, revokedAt: IsNull() },
        lock: { mode: 'pessimistic_write' },
      });
      const now = this.clock.nowMs();
      if (old === null || (old.expiresAt !== null && old.expiresAt.getTime() <= now))
        return undefined;
      const endMs = Math.min(now + overlapMs, old.expiresAt?.getTime() ?? Infinity);
      const endOfOverlap = { expiresAt: new Date(endMs) };
      await keys.update({ id }, endOfOverlap);
      return new ApiKeysService(keys, this.clock).issue(old.accountId, {
        name: old.name,
        allowedModels: old.allowedModels,
        expiresAt: old.expiresAt,
        requestsPerMinute: old.requestsPerMinute,
      });
    });
  }
}

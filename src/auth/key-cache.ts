import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { IsNull, type Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import type { Caller } from './caller.js';
import { hashKey, looksLikeKey } from './key-material.js';

const CACHE_LIMIT = 10_000;
/** Half of the 2 s in which a revocation takes effect on every process (AUTH-04). */
const CACHE_TTL_MS = 1_000;

/** Finds the caller of a key. Known keys are remembered for a second; concurrent look-ups of one key share one query. */
@Injectable()
export class KeyCache {
  private readonly known: LRUCache<string, Caller, Buffer>;

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clock: Clock,
  ) {
    this.known = new LRUCache<string, Caller, Buffer>({
      max: CACHE_LIMIT,
      ttl: CACHE_TTL_MS,
      fetchMethod: (_digest, _stale, { context }) => this.load(context),
    });
  }

  /** The caller of a live key; undefined for an unknown, revoked or expired one. */
  async find(key: string): Promise<Caller | undefined> {
    if (!looksLikeKey(key)) return undefined;
    const hash = hashKey(key);
    const digest = hash.toString('base64');
    const caller = this.known.get(digest) ?? (await this.known.fetch(digest, { context: hash }));
    if (caller === undefined) return undefined;
    const expired = caller.expiresAtMs !== null && caller.expiresAtMs <= this.clock.nowMs();
    return expired ? undefined : caller;
  }

  private async load(hash: Buffer): Promise<Caller | undefined> {
    const row = await this.keys.findOneBy({ hash, revokedAt: IsNull() });
    if (row === null) return undefined;
    return {
      apiKeyId: row.id,
      accountId: row.accountId,
      allowedModels: row.allowedModels === null ? null : new Set(row.allowedModels),
      requestsPerMinute: row.requestsPerMinute,
      expiresAtMs: row.expiresAt?.getTime() ?? null,
    };
  }
}

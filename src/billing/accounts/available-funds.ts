import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';
import { DataSource } from 'typeorm';

const CACHE_TTL_MS = 1_000;
const MAX_ACCOUNTS = 10_000;

/** Tells whether an account has funds. Checked before work that costs the gateway something and has no price yet. */
@Injectable()
export class AvailableFunds {
  private readonly funded = new LRUCache<string, true>({
    ...entriesLimit(MAX_ACCOUNTS),
    ttl: CACHE_TTL_MS,
  });

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Whether the account has funds. `true` may be one second old. `false` is always read under a row lock, so that a new
   * credit counts at once (decision G-101).
   */
  async has(accountId: string): Promise<boolean> {
    if (this.funded.has(accountId)) return true;
    const [row] = await this.dataSource.query<{ funded: boolean }[]>(
      'SELECT posted > held AS funded FROM account WHERE id = $1 FOR SHARE',
      [accountId],
    );
    if (row?.funded !== true) return false;
    this.funded.set(accountId, true);
    return true;
  }
}

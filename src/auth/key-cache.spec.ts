import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Repository } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { LedgerService } from '../billing/ledger.service.js';
import { Clock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';
import { KeyCache } from './key-cache.js';
import { makeKey } from './key-material.js';

const TERMS: KeyTerms = {
  name: 'test',
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
};
/** After which a revocation is seen, and a margin for a timer that fires early. */
const SEEN_AFTER_MS = 1_050;

class SetClock extends Clock {
  ms = 1_800_000_000_000;

  nowMs(): number {
    return this.ms;
  }
}

describe('the cache of keys', () => {
  let database: TestDatabase;
  let accountId: string;
  let keys: ApiKeysService;
  let clock: SetClock;
  let cache: KeyCache;
  let queries: number;
  let isDown: boolean;

  /** The real table; counts what is asked, and can be out of order. */
  function watched(repository: Repository<ApiKey>): Repository<ApiKey> {
    const findOneBy: Repository<ApiKey>['findOneBy'] = (where) => {
      queries += 1;
      return isDown
        ? Promise.reject(new Error('the database is down'))
        : repository.findOneBy(where);
    };
    return repository.extend({ findOneBy });
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    const ledger = new LedgerService(database.dataSource, new SetClock());
    accountId = (await ledger.createAccount('keys')).id;
  });
  beforeEach(() => {
    const repository = database.dataSource.getRepository(ApiKey);
    clock = new SetClock();
    keys = new ApiKeysService(repository, clock);
    cache = new KeyCache(watched(repository), clock);
    queries = 0;
    isDown = false;
  });
  afterAll(() => database.drop());

  const issue = (terms: Partial<KeyTerms> = {}) => keys.issue(accountId, { ...TERMS, ...terms });

  it('tells who the caller is', async () => {
    const { key, record } = await issue({ allowedModels: ['aud-v4'], requestsPerMinute: 7 });
    expect(await cache.find(key)).toEqual({
      apiKeyId: record.id,
      accountId,
      allowedModels: new Set(['aud-v4']),
      requestsPerMinute: 7,
      expiresAtMs: null,
    });
  });

  it('asks once for many callers of a key at the same time, and not again for a second', async () => {
    const { key } = await issue();
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find(key)));
    expect(new Set(found.map((caller) => caller?.accountId))).toEqual(new Set([accountId]));
    await cache.find(key);
    expect(queries).toBe(1);
  });

  it('sees a revocation once its second is over', async () => {
    const { key, record } = await issue();
    await cache.find(key);
    expect(await keys.revoke(record.id)).toBe(true);
    await sleep(SEEN_AFTER_MS);
    expect(await cache.find(key)).toBeUndefined();
    expect(queries).toBe(2);
  });

  it('does not remember that a key was unknown', async () => {
    const key = makeKey();
    expect(await cache.find(key)).toBeUndefined();
    expect(await cache.find(key)).toBeUndefined();
    expect(queries).toBe(2);
  });

  it('does not ask for what cannot be a key', async () => {
    expect(await cache.find('sk-short')).toBeUndefined();
    expect(await cache.find('')).toBeUndefined();
    expect(queries).toBe(0);
  });

  it('lets a key die at the very moment it expires, remembered or not', async () => {
    const { key } = await issue({ expiresAt: new Date(clock.ms + 5_000) });
    expect(await cache.find(key)).toBeDefined();
    clock.ms += 4_999;
    expect(await cache.find(key)).toBeDefined();
    clock.ms += 1;
    expect(await cache.find(key)).toBeUndefined();
    expect(queries).toBe(1);
  });

  it('throws while the database is down, and finds the key when it is back', async () => {
    const { key } = await issue();
    isDown = true;
    await expect(cache.find(key)).rejects.toThrow('the database is down');
    isDown = false;
    expect(await cache.find(key)).toBeDefined();
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { Pool, QueryConfig } from 'pg';
import { SchedulerRegistry } from '@nestjs/schedule';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { Accounts } from '../billing/accounts/accounts.js';
import { Clock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';
import { KeyCache } from './key-cache.js';
import { KeyChangePoller } from './key-change-poller.js';
import { makeKey } from './api-key-format.js';
import { Metrics } from '../platform/observability/metrics.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';

const TERMS: KeyTerms = {
  name: 'test',
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
};
class SetClock extends Clock {
  ms = 1_800_000_000_000;

  nowMs(): number {
    return this.ms;
  }
}

describe('the cache of keys', () => {
  /** Starts nothing here: the tests ask. */
  const scheduler = new Scheduler(new SchedulerRegistry(), new SetClock(), new Metrics(), {
    role: 'all',
  });
  let database: TestDatabase;
  let accountId: string;
  let keys: ApiKeysService;
  let clock: SetClock;
  let changes: KeyChangePoller;
  let cache: KeyCache;
  let queries: number;
  let isDown: boolean;

  /** The real database. It counts the look-ups, and tests can make it fail. */
  function watched({ driver }: DataSource): DataSource {
    const { master: pool } = driver as unknown as { readonly master: Pool };
    const query = (asked: QueryConfig): Promise<unknown> => {
      if (asked.name === 'api_key_find') queries += 1;
      return isDown ? Promise.reject(new Error('the database is down')) : pool.query(asked);
    };
    return { driver: { master: { query } } } as unknown as DataSource;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    accountId = (await new Accounts(database.dataSource, new SetClock()).create('keys')).id;
  });
  beforeEach(() => {
    const repository = database.dataSource.getRepository(ApiKey);
    clock = new SetClock();
    keys = new ApiKeysService(repository, clock);
    changes = new KeyChangePoller(watched(database.dataSource), clock, scheduler);
    cache = new KeyCache(watched(database.dataSource), clock, changes);
    queries = 0;
    isDown = false;
  });
  afterAll(() => database.drop());

  /** Moves the last change of a key before the window that polls read. */
  const createdAnHourAgo = (id: string) =>
    database.dataSource.query(
      `ALTER TABLE api_key DISABLE TRIGGER USER;
       UPDATE api_key SET changed_at = now() - interval '1 hour' WHERE id = '${id}';
       ALTER TABLE api_key ENABLE TRIGGER USER`,
    );
  const issue = (terms: Partial<KeyTerms> = {}) => keys.issue(accountId, { ...TERMS, ...terms });

  it('returns the caller of a key', async () => {
    const { key, record } = await issue({ allowedModels: ['aud-v4'], requestsPerMinute: 7 });
    expect(await cache.find(key)).toEqual({
      apiKeyId: record.id,
      accountId,
      allowedModels: new Set(['aud-v4']),
      requestsPerMinute: 7,
      expiresAtMs: null,
      scopes: ['read', 'call'],
    });
  });

  it('sends one query for concurrent look-ups of a key, and no further query for a second', async () => {
    const { key } = await issue();
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find(key)));
    expect(new Set(found.map((caller) => caller?.accountId))).toEqual(new Set([accountId]));
    await cache.find(key);
    expect(queries).toBe(1);
  });

  it('caches a key for ten minutes while polls for changes succeed', async () => {
    const { key, record } = await issue();
    await createdAnHourAgo(record.id);
    await changes.poll();
    for (let minute = 0; minute < 10; minute += 1) {
      expect(await cache.find(key)).toBeDefined();
      for (let poll = 0; poll < 12; poll += 1) {
        clock.ms += 5_000;
        await changes.poll();
      }
    }
    expect(queries).toBe(1);
    expect(await cache.find(key)).toBeDefined();
    expect(queries).toBe(2);
  });

  it('sees a revocation at the next poll (AUTH-04)', async () => {
    const { key, record } = await issue();
    await changes.poll();
    await cache.find(key);
    await keys.revoke(record.id);
    await changes.poll();
    expect(await cache.find(key)).toBeUndefined();
  });

  it('queries again after a second while polls for changes fail', async () => {
    const { key, record } = await issue();
    await cache.find(key);
    expect(await keys.revoke(record.id)).toBe(true);
    clock.ms += 1_000;
    expect(await cache.find(key)).toBeUndefined();
    expect(queries).toBe(2);
  });

  it('stops using cached keys 1.5 s after the last poll', async () => {
    const { key, record } = await issue();
    await changes.poll();
    await cache.find(key);
    await keys.revoke(record.id);
    clock.ms += 1_499;
    expect(await cache.find(key)).toBeDefined();
    clock.ms += 1;
    expect(await cache.find(key)).toBeUndefined();
  });

  it('drops every key when polls failed for so long that a change may have been missed', async () => {
    const { key, record } = await issue();
    await changes.poll();
    await cache.find(key);
    await keys.revoke(record.id);
    await createdAnHourAgo(record.id);
    clock.ms += 8_001;
    await changes.poll();
    expect(await cache.find(key)).toBeUndefined();
  });

  it('queries at most once per second for an unknown key', async () => {
    const key = makeKey();
    expect(await cache.find(key)).toBeUndefined();
    expect(await cache.find(key)).toBeUndefined();
    expect(queries).toBe(1);
  });

  it('does not query for text that is not in the format of a key', async () => {
    expect(await cache.find('sk-short')).toBeUndefined();
    expect(await cache.find('')).toBeUndefined();
    expect(queries).toBe(0);
  });

  it('rejects a key from the moment of its expiry, cached or not', async () => {
    const { key } = await issue({ expiresAt: new Date(clock.ms + 900) });
    expect(await cache.find(key)).toBeDefined();
    clock.ms += 899;
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

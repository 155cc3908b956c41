import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { Accounts } from '../billing/accounts/accounts.js';
import { Clock } from '../common/time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';
import { hashKey } from './api-key-format.js';

const SECOND_MS = 1_000;
const TERMS: KeyTerms = {
  name: 'ci',
  allowedModels: ['aud-v3', 'gen-5'],
  expiresAt: null,
  requestsPerMinute: 30,
};

class SetClock extends Clock {
  ms = 1_800_000_000_000;

  nowMs(): number {
    return this.ms;
  }
}

describe('API keys', () => {
  let database: TestDatabase;
  let accountId: string;
  const clock = new SetClock();
  let keys: ApiKeysService;

  beforeAll(async () => {
    database = await createTestDatabase();
    accountId = (await new Accounts(database.dataSource, clock).create('keys')).id;
  });
  beforeEach(() => {
    // Ids are ordered by time, and each test lists its own keys first.
    clock.ms += 3_600 * SECOND_MS;
    keys = new ApiKeysService(database.dataSource.getRepository(ApiKey), clock);
  });
  afterAll(() => database.drop());

  const expiryOf = async (id: string): Promise<number | undefined> =>
    (await keys.list(accountId, 100, undefined)).find((row) => row.id === id)?.expiresAt?.getTime();

  it('are stored as a hash: no column holds the text', async () => {
    const { key, record } = await keys.issue(accountId, TERMS);
    const rows = await database.dataSource.query<object[]>('SELECT * FROM api_key WHERE id = $1', [
      record.id,
    ]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(key.slice(10));
    expect((rows[0] as { hash: Buffer }).hash).toEqual(hashKey(key));
  });

  it('are listed newest first, page by page, revoked ones too', async () => {
    const issued = [];
    for (let index = 0; index < 3; index += 1) {
      clock.ms += 1;
      issued.unshift((await keys.issue(accountId, TERMS)).record.id);
    }
    await keys.revoke(issued[1]!);
    const first = await keys.list(accountId, 2, undefined);
    expect(first.map(({ id }) => id)).toEqual(issued.slice(0, 2));
    expect(first[1]?.revokedAt).toEqual(new Date(clock.ms));
    expect((await keys.list(accountId, 1, issued[1]))[0]?.id).toBe(issued[2]);
  });

  it('end with the key that made them', async () => {
    const { record: maker } = await keys.issue(accountId, TERMS);
    const { record: child } = await keys.issue(accountId, TERMS, maker.id);
    const { record: other } = await keys.issue(accountId, TERMS);
    await keys.revoke(maker.id);
    expect((await keys.find(child.id))?.revokedAt).toEqual(expect.any(Date));
    expect((await keys.find(other.id))?.revokedAt).toBeNull();
  });

  it('are revoked once: a second time keeps the first date', async () => {
    const { record } = await keys.issue(accountId, TERMS);
    expect(await keys.revoke(record.id)).toBe(true);
    const revokedAt = new Date(clock.ms);
    clock.ms += SECOND_MS;
    expect(await keys.revoke(record.id)).toBe(true);
    expect((await keys.list(accountId, 1, undefined))[0]?.revokedAt).toEqual(revokedAt);
    expect(await keys.revoke(randomUUID())).toBe(false);
  });

  it('are rotated with their terms; the old one dies after the overlap', async () => {
    const expiresAt = new Date(clock.ms + 3_600 * SECOND_MS);
    const { key, record } = await keys.issue(accountId, { ...TERMS, expiresAt });
    const rotated = await keys.rotate(record.id, 10 * SECOND_MS);
    expect(rotated?.key).not.toBe(key);
    expect(rotated?.record).toMatchObject({ ...TERMS, accountId, expiresAt });
    expect(await expiryOf(record.id)).toBe(clock.ms + 10 * SECOND_MS);
  });

  it('pass the spent amount of their limit on when they are rotated', async () => {
    const limit = { spendLimitMicroUsd: 500n, spendLimitPeriod: 'total' } as const;
    const { record } = await keys.issue(accountId, { ...TERMS, ...limit });
    await database.dataSource.query(
      `INSERT INTO key_spend VALUES ($1, $2, 'total', '-infinity', 300, now())`,
      [accountId, record.id],
    );
    const rotated = await keys.rotate(record.id, SECOND_MS);
    expect(await keys.spentInPeriod(rotated?.record.id ?? '')).toBe(300n);
    const rows = await database.dataSource.query<unknown[]>('SELECT room FROM key_room($1, $2)', [
      accountId,
      rotated?.record.id,
    ]);
    expect(rows).toEqual([{ room: '200' }]);
    const unlimited = await keys.rotate((await keys.issue(accountId, TERMS)).record.id, SECOND_MS);
    expect(await keys.spentInPeriod(unlimited?.record.id ?? '')).toBe(0n);
  });

  it('never expire later because of a rotation', async () => {
    const expiresAt = new Date(clock.ms + 5 * SECOND_MS);
    const { record } = await keys.issue(accountId, { ...TERMS, expiresAt });
    await keys.rotate(record.id, 60 * SECOND_MS);
    expect(await expiryOf(record.id)).toBe(expiresAt.getTime());
  });

  it.each(['revoked', 'expired', 'rotated away', 'unknown'])(
    'cannot be rotated when %s',
    async (end) => {
      const { record } = await keys.issue(accountId, TERMS);
      if (end === 'revoked') await keys.revoke(record.id);
      if (end === 'rotated away') await keys.rotate(record.id, 0);
      if (end === 'expired') {
        await keys.rotate(record.id, SECOND_MS);
        clock.ms += SECOND_MS;
      }
      const before = (await keys.list(accountId, 100, undefined)).length;
      const id = end === 'unknown' ? randomUUID() : record.id;
      expect(await keys.rotate(id, 0)).toBeUndefined();
      expect(await keys.list(accountId, 100, undefined)).toHaveLength(before);
    },
  );

  it.each([0, SECOND_MS])(
    'have one successor when they are rotated twice at the same time, with an overlap of %i ms',
    async (overlapMs) => {
      const { record } = await keys.issue(accountId, TERMS);
      const both = [keys.rotate(record.id, overlapMs), keys.rotate(record.id, overlapMs)];
      const issued = await Promise.all(both.map((call) => call.catch(() => undefined)));
      expect(issued.filter((answer) => answer !== undefined)).toHaveLength(1);
    },
  );
});

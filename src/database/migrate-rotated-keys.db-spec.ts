import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { ApiKey } from '../auth/api-key.entity.js';
import { ApiKeysService } from '../auth/api-keys.service.js';
import { toPublicId } from '../common/ids/public-id.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { SystemClock } from '../common/time/clock.js';
import { createDataSource } from './data-source.js';
import { MIGRATIONS } from './migration-list.js';
import { runMigrations } from './run-migrations.js';

/** The last migration of the version in which a key did not name its successor. */
const LAST_OF_BEFORE = 354;
const numberOf = ({ name }: { name: string }): number => Number(name.slice(-13)) % 1_000;

/** The end of an overlap is a time of the clock; operators give whole seconds. */
const OVERLAP_END = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_250);
const OPERATORS_EXPIRY = new Date(OVERLAP_END.getTime() - 250);

describe('keys that were rotated before they named their successors', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let keys: ApiKeysService;
  const accountId = uuidV7(Date.now());
  const names = ['rotated', 'successor', 'twice', 'first', 'second', 'patched', 'other'] as const;
  const ids = Object.fromEntries(
    [...names, 'unrecorded'].map((name, index) => [name, uuidV7(Date.now() + index)]),
  ) as Record<(typeof names)[number] | 'unrecorded', string>;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    await dataSource.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const before = createDataSource({ url: database.url, poolSize: 1 });
    before.setOptions({
      migrations: MIGRATIONS.filter((each) => numberOf(each) <= LAST_OF_BEFORE),
    });
    await runMigrations(await before.initialize());
    await fill(before);
    await before.destroy();
    await runMigrations(dataSource);
    keys = new ApiKeysService(dataSource.getRepository(ApiKey), new SystemClock());
  });
  afterAll(() => database.drop());

  async function fill(before: DataSource): Promise<void> {
    await before.query(`INSERT INTO account (id, name) VALUES ($1, 'old')`, [accountId]);
    const expiries = new Map([
      ...['rotated', 'twice', 'second', 'unrecorded'].map((name) => [name, OVERLAP_END] as const),
      ['patched', OPERATORS_EXPIRY],
    ]);
    for (const [name, id] of Object.entries(ids)) {
      const expiry = expiries.get(name) ?? null;
      await before.query(
        `INSERT INTO api_key (id, account_id, prefix, hash, expires_at, created_at) VALUES ($1, $2, 'sk', $3, $4, now())`,
        [id, accountId, randomBytes(32), expiry],
      );
    }
    const byApi = 'POST /admin/keys/:id/rotate';
    await record(before, byApi, ids.rotated, 'done', ids.successor);
    await record(before, 'key:rotate', ids.twice, 'done', ids.first);
    await record(before, byApi, ids.twice, 'done', ids.second);
    await record(before, byApi, ids.patched, 'done', ids.other);
    await record(before, 'PATCH /admin/keys/:id', ids.patched, 'done', null);
    await record(before, byApi, ids.unrecorded, null, null);
    await record(before, byApi, 'key_?', 'not_found', null);
  }

  async function record(
    before: DataSource,
    action: string,
    key: string,
    outcome: string | null,
    made: string | null,
  ): Promise<void> {
    const [row] = await before.query<[{ readonly id: string }]>(
      `INSERT INTO operator_action (actor, action, target, at) VALUES ('o', $1, $2, now()) RETURNING id`,
      [action, toPublicId('key', key)],
    );
    if (outcome === null) return;
    await before.query(
      'INSERT INTO operator_outcome (action_id, outcome, made) VALUES ($1, $2, $3)',
      [row.id, outcome, made && toPublicId('key', made)],
    );
  }

  it('are not rotated again in their overlap: 409 names the successor on record', async () => {
    await expect(keys.rotate(ids.rotated, 0)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(toPublicId('key', ids.successor)),
    });
  });

  it('name the successor that lives longest where they were rotated twice', async () => {
    await expect(keys.rotate(ids.twice, 0)).rejects.toMatchObject({
      message: expect.stringContaining(toPublicId('key', ids.first)),
    });
  });

  it.each(['successor', 'second', 'patched', 'unrecorded'] as const)(
    'are rotated where no overlap of theirs is on record: %s',
    async (name) => {
      expect(await keys.rotate(ids[name], 0)).toMatchObject({ record: { accountId } });
    },
  );
});

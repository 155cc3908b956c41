import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { KeptFiles1700000001280 } from '../../platform/database/migrations/1280-kept-files.migration.js';

const BATCH = 5;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const query = <Row>(text: string, values: unknown[] = []) =>
  database.dataSource.query<Row[]>(text, values);

/** So many answers of the account, which ended so many hours ago. */
async function keep(accountId: string, count: number, hours: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const values = [accountId, randomUUID()];
    await query(`SELECT answer_keep($1, $2, 'text/plain', '{}', 10, 'sealed', 1000000)`, values);
  }
  await query(
    `UPDATE kept_answer SET expires_at = now() - $2 * interval '1 hour' WHERE account_id = $1`,
    [accountId, hours],
  );
}

const kept = async (accountId: string) => {
  const [row] = await query<{ answers: number; bytes: string }>(
    `SELECT (SELECT count(*)::int FROM kept_answer WHERE account_id = $1) AS answers, kept_bytes AS bytes
       FROM stored_content WHERE account_id = $1`,
    [accountId],
  );
  return { answers: row?.answers, bytes: Number(row?.bytes) };
};
const sweep = async () => {
  const [row] = await query<{ forgotten: number }>('SELECT answer_sweep($1) AS forgotten', [BATCH]);
  return row?.forgotten;
};

describe('the sweep of kept answers', () => {
  it('passes over an account that another transaction has, and forgets those behind it', async () => {
    const [locked, free] = [randomUUID(), randomUUID()];
    await keep(locked, 2 * BATCH, 5);
    await keep(free, BATCH + 2, 1);
    const other = database.dataSource.createQueryRunner();
    await other.startTransaction();
    try {
      await other.query('SELECT FROM stored_content WHERE account_id = $1 FOR UPDATE', [locked]);
      expect(await sweep()).toBe(BATCH);
      expect(await sweep()).toBe(2);
      expect(await kept(free)).toEqual({ answers: 0, bytes: 0 });
      expect(await kept(locked)).toEqual({ answers: 2 * BATCH, bytes: 20 * BATCH });
    } finally {
      await other.rollbackTransaction();
      await other.release();
    }
    expect(await sweep()).toBe(BATCH);
    expect(await sweep()).toBe(BATCH);
    expect(await kept(locked)).toEqual({ answers: 0, bytes: 0 });
  });

  it('leaves answers whose day is not over', async () => {
    const accountId = randomUUID();
    await keep(accountId, 1, -1);
    expect(await sweep()).toBe(0);
    expect(await kept(accountId)).toEqual({ answers: 1, bytes: 10 });
  });
});

describe('the way back to a schema without kept files', () => {
  it('drops the answers in files, whose rows have only keys, and counts what is left', async () => {
    const accountId = randomUUID();
    await keep(accountId, 3, -1);
    await query(
      `UPDATE kept_answer SET file_id = gen_random_uuid()
        WHERE id IN (SELECT id FROM kept_answer WHERE account_id = $1 LIMIT 2)`,
      [accountId],
    );
    const migration = new KeptFiles1700000001280();
    const runner = database.dataSource.createQueryRunner();
    try {
      await migration.down(runner);
      expect(await kept(accountId)).toEqual({ answers: 1, bytes: 10 });
    } finally {
      await migration.up(runner);
      await runner.release();
    }
  });
});

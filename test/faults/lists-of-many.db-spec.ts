import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Execution } from '../../src/billing/calls/execution.js';
import type { ExecutionQuery } from '../../src/billing/calls/executions.service.js';
import { TaskRepository } from '../../src/tasks/reads/task.repository.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { ledgerOf } from '../support/test-ledger.js';

const CALLS = 25_000;
const account = randomUUID();
const other = randomUUID();
const key = randomUUID();
const LIMIT = 20;

/** One call per second up to now; one in 5,000 failed. `columns` gives the other columns. */
const FILL = `
  INSERT INTO execution (account_id, id, api_key_id, held, model, endpoint, status, charged, error_code, completed_at,
                         client_request_id, created_at)
  SELECT $1::uuid, (lpad(to_hex(((extract(epoch FROM at) * 1000))::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid,
         $2, 1, 'aud-v4', '/v1/audio/speech',
         CASE WHEN n % 5000 = 0 THEN 'failed' ELSE 'succeeded' END, CASE WHEN n % 5000 <> 0 THEN 1 END,
         CASE WHEN n % 5000 = 0 THEN 'internal_error' END, at, CASE WHEN n % 100 = 0 THEN 'order-' || n % 1000 END, at
    FROM generate_series(1, $3) n, LATERAL (SELECT now() - ($3 - n) * interval '1 second' AS at) t`;

describe('Lists of many rows', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let list: (query: Partial<ExecutionQuery>) => Promise<{ items: Execution[]; pages: number }>;

  beforeAll(async () => {
    database = await createTestDatabase();
    ({ dataSource } = database);
    await dataSource.query(
      `INSERT INTO api_key (id, account_id, prefix, hash, created_at) VALUES ($1, $2, 'sk-', decode(repeat('00', 32), 'hex'), now())`,
      [key, account],
    );
    await dataSource.query(FILL, [account, key, CALLS]);
    await dataSource.query(FILL, [other, randomUUID(), 10]);
    const { reads } = ledgerOf(dataSource);
    list = (query) => collect((cursor) => reads.list({ limit: LIMIT, cursor, ...query }));
  });
  afterAll(() => database.drop());

  it('find what a filter without an index asks for over several pages, none of which reads more than 10,000 rows', async () => {
    const failed = await list({ accountId: account, status: 'failed' });
    expect(failed.items).toHaveLength(CALLS / 5_000);
    expect(failed.items.map(({ id }) => id)).toEqual(
      failed.items
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    // 25,000 rows: two full scans and the rest.
    expect(failed.pages).toBe(3);
  });

  it('give every row once, newest first, however many pages there are', async () => {
    const query = {
      accountId: account,
      limit: 100,
      createdAfter: new Date(Date.now() - 1_000_000),
    };
    const { items } = await list(query);
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(items.length).toBeGreaterThan(980);
    expect(items.length).toBeLessThanOrEqual(1_000);
  });

  it.each<[string, () => Partial<ExecutionQuery>, number]>([
    ['an account', () => ({ accountId: account }), LIMIT],
    ['a key', () => ({ apiKeyId: key, accountId: account }), LIMIT],
    ['a client request', () => ({ accountId: account, clientRequestId: 'order-300' }), LIMIT],
    ['another account', () => ({ accountId: other }), 10],
    ['a key of another account', () => ({ apiKeyId: key, accountId: other }), 0],
    ['a time', () => ({ createdBefore: new Date(Date.now() - 20_000_000) }), LIMIT],
  ])('find the calls of %s without reading others', async (_, query, expected) => {
    const { reads } = ledgerOf(dataSource);
    const before = await rowsRead(dataSource);
    const { items } = await reads.list({ limit: LIMIT, ...query() });
    expect(items).toHaveLength(expected);
    // The slack between the clocks is a minute, one call a second.
    expect((await rowsRead(dataSource)) - before).toBeLessThan(LIMIT + 150);
  });

  it('take the index of client requests for tasks', async () => {
    const reader = new TaskRepository(dataSource);
    const filter = { accountId: account, clientRequestId: 'order', status: 'queued' } as const;
    expect(await reader.list(filter, { limit: LIMIT })).toEqual({ items: [], nextCursor: null });
  });
});

/** Rows of executions that were read through indexes so far. */
async function rowsRead(dataSource: DataSource): Promise<number> {
  await dataSource.query('SELECT pg_stat_force_next_flush()');
  await dataSource.query('SELECT pg_stat_clear_snapshot()');
  const [row] = await dataSource.query<{ read: string }[]>(
    `SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'execution'`,
  );
  return Number(row?.read);
}

async function collect<Item>(
  page: (
    cursor: string | undefined,
  ) => Promise<{ items: readonly Item[]; nextCursor: string | null }>,
) {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const { items: more, nextCursor } = await page(cursor);
    items.push(...more);
    if (nextCursor === null) return { items, pages };
    cursor = nextCursor;
  }
}

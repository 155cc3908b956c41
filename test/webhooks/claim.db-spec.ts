import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { HOUR_MS } from '../../src/common/time/spans.js';
import { DeliveryStatements, type ClaimLimits } from '../../src/webhooks/delivery-statements.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const LEASE_MS = 30_000;
const LIMIT = 256;
const LANES = 1_000;
const HANGING = 'http://hanging.example';
const BACKLOG = 50_000;
const DELIVERED = 50_000;
/** Rows that one statement changes, so that it ends in time on a busy machine. */
const PORTION = 10_000;
const HEALTHY = 100;
/** Rows a claim may read: twice its limit at the head, one for each step, what it claims a few times over. */
const MAX_ROWS = 2_500;

const ROOMS: ClaimLimits = {
  total: LIMIT,
  perOrigin: 4,
  origins: new Map(),
  perAccount: 256,
  accounts: new Map(),
};

/** Ids of accounts begin with the time. */
const NOW = Date.UTC(2026, 10, 22);
const BEFORE = NOW - 24 * HOUR_MS;

interface RowsRead {
  readonly claimed: number;
  readonly bySequence: number;
  readonly byIndex: number;
}

describe('Claiming deliveries', () => {
  let database: TestDatabase;
  let statements: DeliveryStatements;
  const account = uuidV7(BEFORE + HOUR_MS);

  beforeAll(async () => {
    database = await createTestDatabase();
    statements = new DeliveryStatements(database.dataSource);
    // The tests themselves say when the statistics change, and with them the plans.
    await database.dataSource.query('ALTER TABLE webhook_delivery SET (autovacuum_enabled = off)');
  });
  afterAll(() => database.drop());
  beforeEach(() => database.dataSource.query('TRUNCATE webhook_delivery, webhook_attempt'));

  /** Deliveries, the first due longest; their origin is an SQL text of the number `i`. */
  async function add(count: number, origin: string, dueMsAgo: number, accountId = account) {
    for (let from = 1; from <= count; from += PORTION) {
      const to = Math.min(count, from + PORTION - 1);
      await database.dataSource.query(
        `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, due_at, created_at)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 'http://receiver.example/', ${origin}, '{}',
              now() - $2 * interval '1 millisecond' + i * interval '1 microsecond', now()
           FROM generate_series($3::int, $4::int) i`,
        [accountId, dueMsAgo, from, to],
      );
    }
  }

  /** What a claim that has no room for the hanging receiver reads; it is undone. */
  async function readBy(runner: QueryRunner): Promise<RowsRead> {
    await runner.startTransaction();
    try {
      const claimed: unknown[] = await runner.query(
        'SELECT id FROM webhook_claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
        [randomUUID(), LANES, LEASE_MS, LIMIT, 4, [HANGING], [0], 256, [], []],
      );
      const [read] = (await runner.query(
        `SELECT seq_tup_read::int AS "bySequence", idx_tup_fetch::int AS "byIndex"
           FROM pg_stat_xact_user_tables WHERE relname = 'webhook_delivery'`,
      )) as Omit<RowsRead, 'claimed'>[];
      return { claimed: claimed.length, bySequence: 0, byIndex: 0, ...read };
    } finally {
      await runner.rollbackTransaction();
    }
  }

  it('reads few of 100,000 rows while 50,000 wait for a receiver that hangs, with the plan of an empty table and that of all waiting for it (HOOK-25)', async () => {
    const runner = database.dataSource.createQueryRunner();
    expect(await readBy(runner)).toMatchObject({ claimed: 0, bySequence: 0 });
    await add(BACKLOG, `'${HANGING}'`, HOUR_MS);
    await add(DELIVERED, `'${HANGING}'`, HOUR_MS);
    await add(HEALTHY, `'http://healthy.example:' || i`, 1_000);
    // Statistics of a burst: 100,000 deliveries are pending.
    await database.dataSource.query('ANALYZE webhook_delivery');
    const reads = [await readBy(runner)];
    for (let delivered = 0; delivered < DELIVERED; delivered += PORTION) {
      await database.dataSource.query(
        `UPDATE webhook_delivery SET status = 'delivered', due_at = NULL
          WHERE id IN (SELECT id FROM webhook_delivery
                        WHERE origin = '${HANGING}' AND status = 'pending' LIMIT ${PORTION})`,
      );
    }
    reads.push(await readBy(runner));
    // As autovacuum does: new plans, made of what the table is like now.
    await database.dataSource.query('DELETE FROM webhook_delivery WHERE origin <> $1', [HANGING]);
    await database.dataSource.query('ANALYZE webhook_delivery');
    await add(HEALTHY, `'http://healthy.example:' || i`, 1_000);
    reads.push(await readBy(runner));
    await runner.release();
    for (const read of reads) {
      expect(read).toMatchObject({ claimed: HEALTHY, bySequence: 0 });
      expect(read.byIndex).toBeLessThanOrEqual(MAX_ROWS);
    }
  }, 120_000);

  it('claims the longest due of each receiver, as many as its concurrency allows, the longest due of all first', async () => {
    await add(1_000, `'${HANGING}'`, HOUR_MS);
    await add(600, `'http://healthy.example:' || i % 20`, 60_000);
    const rooms = { ...ROOMS, total: 60, origins: new Map([[HANGING, 1]]) };
    const first = await statements.claim(LEASE_MS, rooms);
    const counts = new Map<string, number>();
    for (const { origin } of first) counts.set(origin, (counts.get(origin) ?? 0) + 1);
    expect(counts.get(HANGING)).toBe(1);
    expect(first).toHaveLength(60);
    for (const [origin, count] of counts)
      if (origin !== HANGING) expect(count).toBeLessThanOrEqual(4);
    // Leased: the next claim takes what follows.
    const again = await statements.claim(LEASE_MS, { ...rooms, origins: new Map([[HANGING, 0]]) });
    const ids = new Set(first.map(({ id }) => id));
    expect(again.some(({ id }) => ids.has(id))).toBe(false);
  });

  it.each([
    ['older', BEFORE],
    ['younger', NOW],
  ])(
    'claims at most the free slots of an account, and deliveries of one that is %s',
    async (_which, madeAt) => {
      const other = uuidV7(madeAt);
      await add(2_000, `'http://many.example:' || i`, HOUR_MS);
      await add(10, `'http://other.example:' || i`, 1_000, other);
      const rooms = { ...ROOMS, accounts: new Map([[account, 3]]) };
      const ofOther: string[] = [];
      const accounts = new Map(rooms.accounts);
      for (let turn = 0; turn < 3 && ofOther.length < 10; turn += 1) {
        const claimed = await statements.claim(LEASE_MS, { ...rooms, accounts });
        const mine = claimed.filter(({ accountId }) => accountId === account);
        expect(mine.length).toBeLessThanOrEqual(accounts.get(account) ?? 0);
        accounts.set(account, 0);
        ofOther.push(...claimed.filter(({ accountId }) => accountId === other).map(({ id }) => id));
      }
      expect(new Set(ofOther).size).toBe(10);
    },
  );
});

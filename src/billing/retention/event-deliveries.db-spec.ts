import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { RecordRetention } from './record-retention.js';

const DAYS = 30;
/** More than one statement drops. */
const MANY = 1_201;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('drops all deliveries of events that are over and old, with their attempts, and no others', async () => {
  const { dataSource } = database;
  const write = (ageDays: number, status: string, event: string | null, count = 1) =>
    dataSource.query(
      `WITH written AS (
         INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, status, due_at, created_at, event)
           SELECT $1, gen_random_uuid(), gen_random_uuid(), 'u', $5::text, '', $2,
                  CASE WHEN $2 = 'pending' THEN now() END, now() - $3 * interval '1 day', $4
             FROM generate_series(1, $6::int) RETURNING account_id, id)
       INSERT INTO webhook_attempt (account_id, delivery_id, fence, started_at, duration_ms)
         SELECT account_id, id, 1, now(), 5 FROM written`,
      [randomUUID(), status, ageDays, event, `${event} ${status} ${ageDays}`, count],
    );
  await write(DAYS + 1, 'delivered', 'balance.low', MANY);
  await write(DAYS + 1, 'failed', 'task.finished');
  await write(DAYS + 1, 'pending', 'task.finished');
  await write(DAYS - 1, 'delivered', 'task.finished');
  // It goes with its task.
  await write(DAYS + 1, 'delivered', null);
  const settings = { recordRetentionDays: DAYS };
  const retention = new RecordRetention(dataSource, {} as Scheduler, settings);
  expect(await retention.tick(undefined)).toBe(0);
  expect(await retention.tick(DAYS)).toBe(MANY + 1);
  const left = await dataSource.query<object[]>(
    `SELECT d.origin, count(a.delivery_id)::int AS attempts FROM webhook_delivery d
       LEFT JOIN webhook_attempt a ON a.account_id = d.account_id AND a.delivery_id = d.id GROUP BY 1 ORDER BY 1`,
  );
  expect(left).toEqual([
    { origin: 'null delivered 31', attempts: 1 },
    { origin: 'task.finished delivered 29', attempts: 1 },
    { origin: 'task.finished pending 31', attempts: 1 },
  ]);
});

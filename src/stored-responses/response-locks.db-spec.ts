import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { until } from '../../test/support/until.js';
import { SecretBox } from '../common/secrets/secret-box.js';
import { ResponseStore } from './response-store.js';
import { StoredContent } from './stored-content.js';

const MANY = 104_857_600;
const uuid = (digit: number) => `0190a6a0-0000-7000-8000-${digit.toString(16).padStart(12, '0')}`;

let database: TestDatabase;
let db: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.dataSource;
});
afterAll(() => database.drop());

const storeOf = (bytes = MANY) =>
  new ResponseStore(db, new StoredContent(new SecretBox(['k'.repeat(40)])), {
    responsesRetentionDays: 30,
    responsesMaxBytesPerAccount: bytes,
  });
const response = (id: string, text = '') => ({
  id,
  response: { object: 'response' },
  items: [{ id: randomUUID(), item: { type: 'message', text } }],
  outputItems: 0,
});

/** A delivery of this response that is being attempted. */
async function delivery(accountId: string, owner: string, id: string): Promise<void> {
  await db.query(
    `SELECT webhook_enqueue($1, $2, $3, 'https://a.b/c', 'https://a.b', NULL, convert_to('{"said":1}', 'UTF8'), now())`,
    [accountId, id, owner],
  );
  await db.query(`UPDATE webhook_delivery SET is_under_way = true, fence = 1 WHERE id = $1`, [id]);
  await db.query(
    `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox, upstream_model,
       reserved) VALUES ($1, $2, 'response', 'text', 'm', '{}', 'p', '', true, 'm', 1) ON CONFLICT DO NOTHING`,
    [accountId, owner],
  );
}

/** Waits until so many statements of the database wait for a lock. */
const untilWaiting = (count: number) =>
  until(async () => {
    const rows = await db.query<object[]>(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length === count;
  });

type Three = readonly [QueryRunner, QueryRunner, QueryRunner];

/** Sessions that wait as long as the test does. */
async function sessions<T>(work: (runners: Three) => Promise<T>): Promise<T> {
  const runners: Three = [db.createQueryRunner(), db.createQueryRunner(), db.createQueryRunner()];
  try {
    for (const runner of runners) await runner.query('SET lock_timeout = 0');
    return await work(runners);
  } finally {
    for (const runner of runners) {
      await runner.query('RESET lock_timeout');
      await runner.release();
    }
  }
}

/** Stores a response for which the oldest other one that can be forgotten is. */
const STORE = `
  SELECT response_store($1, $2, 30, '{}', 0, 'sealed', '{}', '{}', (SELECT bytes FROM stored_content WHERE account_id = $1))`;
const WAYS: readonly [string, string][] = [
  ['a sweep', 'SELECT response_sweep(0, 10), $1::uuid'],
  ['an erasure', 'SELECT response_erase($1)'],
];
const RECORD = `
  SELECT webhook_record(ARRAY[$1, $1]::uuid[], $2, '{1,1}', ARRAY[now(), now()], '{200,200}', '{NULL,NULL}', '{1,1}',
    '{delivered,delivered}', '{NULL,NULL}', '{NULL,NULL}'::bigint[])`;

describe.each(WAYS)('%s and a batch of attempts', (_what, forget) => {
  // An older response may have the newer delivery: it took longer. Attempts end in any order.
  it.each([
    [
      [11, 12],
      [11, 12],
    ],
    [
      [11, 12],
      [12, 11],
    ],
    [
      [12, 11],
      [11, 12],
    ],
    [
      [12, 11],
      [12, 11],
    ],
  ])('do not wait for each other: deliveries %j, attempts %j', async (deliveries, attempts) => {
    const account = randomUUID();
    await db.query('TRUNCATE stored_response, stored_item, stored_content, webhook_delivery, task');
    for (const [at, id] of deliveries.entries()) {
      await storeOf().store(account, response(uuid(at + 1), 'x'.repeat(900)));
      await delivery(account, uuid(at + 1), uuid(id));
    }
    // The first delivery that is forgotten is locked, so that the attempts come between it and the second.
    const [first = 0] = deliveries;
    await sessions(async ([blocker, forgetter, recorder]) => {
      await blocker.startTransaction();
      await blocker.query('SELECT FROM webhook_delivery WHERE id = $1 FOR UPDATE', [uuid(first)]);
      const forgotten = forgetter.query(forget, [account]);
      await untilWaiting(1);
      const recorded = recorder.query(RECORD, [account, attempts.map(uuid)]);
      await untilWaiting(2);
      await blocker.rollbackTransaction();
      await Promise.all([forgotten, recorded]);
    });
    const bodies = await db.query<{ status: string; body: string }[]>(
      `SELECT status, convert_from(body, 'UTF8') AS body FROM webhook_delivery`,
    );
    for (const { status, body } of bodies) {
      expect(status).toBe('delivered');
      expect(body).toContain('response.deleted');
    }
  });
});

describe('responses that are stored where the oldest of the account are forgotten', () => {
  const NEW = [21, 22, 23].map(uuid);
  const told = async () => {
    const rows = await db.query<{ owner_id: string; body: string }[]>(
      `SELECT owner_id, convert_from(body, 'UTF8') AS body FROM webhook_delivery ORDER BY owner_id`,
    );
    return rows.map(({ body }) => body.includes('response.deleted'));
  };
  const left = async () =>
    (await db.query<{ id: string }[]>('SELECT id FROM stored_response ORDER BY id')).map(
      ({ id }) => id,
    );
  /** Two responses, the older one with the newer delivery. */
  async function stored(): Promise<string> {
    const account = randomUUID();
    await db.query('TRUNCATE stored_response, stored_item, stored_content, webhook_delivery, task');
    for (const [at, id] of [12, 11].entries()) {
      await storeOf().store(account, response(uuid(at + 1), 'x'.repeat(900)));
      await delivery(account, uuid(at + 1), uuid(id));
    }
    return account;
  }

  it('two in one transaction and a batch of attempts do not wait for each other', async () => {
    const account = await stored();
    await sessions(async ([storer, recorder]) => {
      await storer.startTransaction();
      await storer.query(STORE, [account, NEW[0]]);
      const recorded = recorder.query(RECORD, [account, [11, 12].map(uuid)]);
      await untilWaiting(1);
      // The attempts have the delivery of the second one now, and wait for that of the first.
      await storer.query(STORE, [account, NEW[1]]);
      await storer.commitTransaction();
      await recorded;
    });
    expect(await told()).toEqual([true, false]);
    expect(await left()).toContain(uuid(2));
    await db.query(STORE, [account, NEW[2]]);
    expect(await told()).toEqual([true, true]);
    expect(await left()).not.toContain(uuid(2));
  });

  it('wait for no delivery that is being recorded: the next oldest one is forgotten', async () => {
    const account = await stored();
    await sessions(async ([recorder]) => {
      await recorder.startTransaction();
      await recorder.query('SELECT FROM webhook_delivery WHERE id = $1 FOR UPDATE', [uuid(12)]);
      await db.query(STORE, [account, NEW[0]]);
      expect(await left()).toEqual([uuid(1), NEW[0]]);
      expect(await told()).toEqual([false, true]);
      await recorder.rollbackTransaction();
    });
  });
});

it('a sweep waits for no account, and comes to its responses the next time', async () => {
  await db.query('TRUNCATE stored_response, stored_item, stored_content, webhook_delivery, task');
  const [busy, free] = [randomUUID(), randomUUID()];
  for (const account of [busy, free]) await storeOf().store(account, response(randomUUID()));
  const sweep = async () =>
    (await db.query<[{ forgotten: number }]>('SELECT response_sweep(0, 10) AS forgotten'))[0];
  await sessions(async ([blocker]) => {
    await blocker.startTransaction();
    const lock = 'SELECT FROM stored_content WHERE account_id = $1 FOR UPDATE';
    await blocker.query(lock, [busy]);
    expect(await sweep()).toEqual({ forgotten: 1 });
    await blocker.rollbackTransaction();
  });
  expect(await db.query('SELECT account_id FROM stored_response')).toEqual([{ account_id: busy }]);
  expect(await sweep()).toEqual({ forgotten: 1 });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { MINUTE_MS } from '../common/time/spans.js';
import { WebhookReceivers } from './webhook-receivers.js';

const HOSTS = ['a.example', 'b.example:8443'] as const;
const ACCOUNTS = [randomUUID(), randomUUID()] as const;

let database: TestDatabase;
let receivers: WebhookReceivers;

beforeAll(async () => {
  database = await createTestDatabase();
  receivers = new WebhookReceivers(database.dataSource);
});
beforeEach(() => query('TRUNCATE webhook_delivery, webhook_attempt'));
afterAll(() => database.drop());

const query = <T>(text: string, values: unknown[] = []) =>
  database.dataSource.query<T[]>(text, values);

interface Made {
  readonly host: string;
  readonly account: string;
  readonly status: string;
  /** Minutes since each of its attempts began, the oldest first. */
  readonly attempts: readonly number[];
}

/** A delivery that was written two hours ago. */
async function make({ host, account, status, attempts }: Made): Promise<string> {
  const writtenMs = Date.now() - 120 * MINUTE_MS;
  const id = uuidV7(writtenMs);
  await query(
    `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, status, retry, due_at, created_at, fence)
     VALUES ($1, $2, $3, $4, $5, '', $6, 3, CASE WHEN $6 = 'pending' THEN now() - interval '1 minute' END, $7, $8)`,
    [
      ...[account, id, randomUUID(), `https://${host}/hook`, `https://${host} ${account}`, status],
      ...[new Date(writtenMs), attempts.length],
    ],
  );
  for (const [nr, minutes] of attempts.entries())
    await query(`INSERT INTO webhook_attempt VALUES ($1, $2, $3, $4, 500, NULL, $5)`, [
      ...[account, id, nr + 1, new Date(Date.now() - minutes * MINUTE_MS), 10 * (nr + 1)],
    ]);
  return id;
}

const made = fc.record({
  host: fc.constantFrom(...HOSTS),
  account: fc.constantFrom(...ACCOUNTS),
  status: fc.constantFrom('failed', 'failed', 'pending', 'delivered'),
  attempts: fc
    .array(fc.constantFrom(5, 25, 45), { maxLength: 3 })
    .map((ages) => ages.sort((a, b) => b - a)),
});
const filter = fc.record({
  host: fc.option(fc.constantFrom(...HOSTS), { nil: undefined }),
  accountId: fc.option(fc.constantFrom(...ACCOUNTS), { nil: undefined }),
  minutes: fc.constantFrom(10, 30, 60, 180),
});

describe('WebhookReceivers', () => {
  it('makes exactly the failed deliveries of the filter due, once, and leaves all others as they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(made, { maxLength: 8 }), filter, async (all, of) => {
        await query('TRUNCATE webhook_delivery, webhook_attempt');
        const due: string[] = [];
        for (const one of all) {
          const id = await make(one);
          // Without an attempt it failed when it was written.
          const failedBefore = one.attempts.at(-1) ?? 120;
          if (
            one.status === 'failed' &&
            failedBefore < of.minutes &&
            (of.host ?? one.host) === one.host &&
            (of.accountId ?? one.account) === one.account
          )
            due.push(id);
        }
        const rows = () =>
          query<{ id: string }>('SELECT id, status, retry FROM webhook_delivery ORDER BY id');
        const before = await rows();
        const failedAfter = new Date(Date.now() - of.minutes * MINUTE_MS);
        const asked = { host: of.host, accountId: of.accountId, failedAfter };
        expect(await receivers.redeliver(asked)).toBe(due.length);
        expect(await rows()).toEqual(
          before.map((row) =>
            due.includes(row.id) ? { id: row.id, status: 'pending', retry: null } : row,
          ),
        );
        expect(await receivers.redeliver(asked)).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  it('makes each due once where two operators ask at the same time', async () => {
    for (let nr = 0; nr < 20; nr++)
      await make({ host: HOSTS[0], account: ACCOUNTS[0], status: 'failed', attempts: [5] });
    const asked = { failedAfter: new Date(Date.now() - 10 * MINUTE_MS) };
    const counts = await Promise.all([receivers.redeliver(asked), receivers.redeliver(asked)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
  });

  it('sums deliveries up by host, what fails most first', async () => {
    const [host, other] = HOSTS;
    const [account, second] = ACCOUNTS;
    await make({ host, account, status: 'delivered', attempts: [5] });
    await make({ host: other, account, status: 'failed', attempts: [45, 25, 5] });
    await make({ host: other, account: second, status: 'pending', attempts: [5] });
    const all = await receivers.sums(new Date(Date.now() - 180 * MINUTE_MS));
    expect(all.isComplete).toBe(true);
    const sum = { accounts: 1, deliveries: 1, delivered: 0, pending: 0, failed: 0 };
    expect(all.receivers).toMatchObject([
      { ...sum, host: other, accounts: 2, deliveries: 2, pending: 1, failed: 1, attempts: 4 },
      { ...sum, host, delivered: 1, attempts: 1, p50Ms: 10, p99Ms: 10, lagSeconds: null },
    ]);
    expect(all.receivers[0]).toMatchObject({ p50Ms: 10, p99Ms: 30 });
    expect(all.receivers[0]!.lagSeconds).toBeGreaterThanOrEqual(60);
    const none = await receivers.sums(new Date(Date.now() - 60 * MINUTE_MS));
    expect(none.receivers).toEqual([]);
  });
});

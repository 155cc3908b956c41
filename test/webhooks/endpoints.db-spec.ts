import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { SystemClock } from '../../src/common/time/clock.js';
import {
  type NewEndpoint,
  WebhookEndpoints,
} from '../../src/webhooks/endpoints/webhook-endpoints.js';
import { signatureOf } from '../../src/webhooks/webhook-signature.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { fundedAccount } from '../support/test-ledger.js';
import { WebhookHarness } from '../support/webhook-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const ENDPOINTS = 10;
const EVENTS = 30;
const HANG_MS = 60_000;
const TICK_MS = 100;
const SECRET = 'a-secret-of-16-or-more';

let database: TestDatabase;
let receivers: WebhookReceiver[];
let harness: WebhookHarness;
let endpoints: WebhookEndpoints;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.dataSource.query('TRUNCATE webhook_delivery, webhook_attempt, webhook_endpoint');
  const clock = new SystemClock();
  harness = new WebhookHarness(database.dataSource, { clock, timeoutMs: HANG_MS });
  const { secrets, targets, deliveries } = harness;
  endpoints = new WebhookEndpoints(database.dataSource, clock, secrets, targets, deliveries);
  accountId = await fundedAccount(database.dataSource, 1_000n);
  receivers = [];
});
afterEach(() => Promise.all(receivers.map((receiver) => receiver.stop())));

async function receive(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  receivers.push(receiver);
  return receiver;
}
const make = (
  { url }: WebhookReceiver,
  of = accountId,
  events: NewEndpoint['events'] = ['balance.low'],
) => endpoints.create(of, { url, secret: SECRET, events });
const tell = (of = accountId, nr = 0) =>
  database.dataSource.query(
    `SELECT event_tell($1, 'balance.low', json_build_object('nr', $2::int))`,
    [of, nr],
  );

describe('the endpoints of an account', () => {
  it('that all hang delay the event of no other account', async () => {
    for (let nr = 0; nr < ENDPOINTS; nr++) {
      const receiver = await receive();
      receiver.react(() => undefined);
      await make(receiver);
    }
    for (let nr = 0; nr < EVENTS; nr++) await tell(accountId, nr);
    const other = await fundedAccount(database.dataSource, 1_000n);
    const healthy = await receive();
    await make(healthy, other);
    await tell(other);
    const worker = harness.worker();
    const ticking = setInterval(() => void worker.tick(), TICK_MS);
    await healthy.until(1);
    clearInterval(ticking);
    const pending = await harness.deliveries.list({ accountId, status: 'pending' }, { limit: 100 });
    expect(pending.items).toHaveLength(100);
    expect(pending.items.flatMap(({ attempts }) => attempts)).toEqual([]);
    await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
    await worker.beforeApplicationShutdown();
  });

  it('are told of one event under one id, each once and signed', async () => {
    const all = [await receive(), await receive()];
    for (const receiver of all) await make(receiver);
    await make(await receive(), accountId, ['task.finished']);
    await tell();
    const worker = harness.worker();
    expect(await worker.tick()).toBe(2);
    await worker.whenIdle();
    const ids = all.map(({ received: [delivery, ...more] }) => {
      expect(more).toEqual([]);
      const body = delivery?.body ?? Buffer.alloc(0);
      const signature = String(delivery?.headers['x-shim-signature']);
      const [, t = ''] = /^t=(\d+),/.exec(signature) ?? [];
      expect(signature).toBe(signatureOf(SECRET, Number(t), body));
      return (JSON.parse(body.toString()) as { id: string }).id;
    });
    expect(ids[0]).toMatch(/^evt_[0-9a-f]{32}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(receivers[2]?.received).toEqual([]);
  });

  it('that are deleted get what they were told before, signed as ever, and nothing more', async () => {
    const receiver = await receive();
    const { id } = await make(receiver);
    receiver.react(503);
    await tell(accountId, 1);
    const worker = harness.worker();
    await worker.tick();
    await worker.whenIdle();
    await endpoints.delete(accountId, id);
    await tell(accountId, 2);
    await expect(endpoints.test(accountId, id)).rejects.toMatchObject({ code: 'not_found' });
    receiver.react(200);
    await harness.age(10_000);
    expect(await worker.tick()).toBe(1);
    await worker.whenIdle();
    const numbers = receiver.received.map(
      ({ body }) => (JSON.parse(body.toString()) as { data: { nr: number } }).data.nr,
    );
    expect(numbers).toEqual([1, 1]);
    expect(receiver.received[1]?.headers['x-shim-signature']).toBeDefined();
    expect(await harness.deliveryOf(id)).toMatchObject({ status: 'delivered' });
  });

  it('may be made again after one was deleted, at most 10 at any time, by many at once', async () => {
    const receiver = await receive();
    const made = await Promise.allSettled(Array.from({ length: 15 }, () => make(receiver)));
    const [first] = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(ENDPOINTS);
    await endpoints.delete(accountId, first!.id);
    await make(receiver);
    await expect(make(receiver)).rejects.toMatchObject({ code: 'conflict' });
    await expect(endpoints.get(randomUUID(), first!.id)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

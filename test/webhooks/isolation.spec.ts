import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '../../src/common/time/clock.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { HandClock, WebhookDesk } from '../support/webhook-desk.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const HANGING = 4;
const HEALTHY = 16;
const DELIVERIES_EACH = 20;
const TICK_MS = 100;
const P99_MS = 2_000;

describe('Receivers among each other', () => {
  let database: TestDatabase;
  let receivers: WebhookReceiver[];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.dataSource.query('TRUNCATE webhook_delivery, webhook_attempt');
    receivers = await Promise.all(
      Array.from({ length: HANGING + HEALTHY }, () => startWebhookReceiver()),
    );
  });
  afterEach(() => Promise.all(receivers.map((receiver) => receiver.stop())));

  it('lets no delivery wait for the fifth of the receivers that hang (HOOK-25)', async () => {
    const desk = new WebhookDesk(database.dataSource, {
      clock: new SystemClock(),
      timeoutMs: 10_000,
    });
    const accountId = randomUUID();
    const hanging = receivers.slice(0, HANGING);
    const healthy = receivers.slice(HANGING);
    for (const receiver of hanging) receiver.react(() => undefined);
    // The hanging ones come first, so that they are the longest due.
    for (const receiver of [...hanging, ...healthy]) {
      for (let n = 0; n < DELIVERIES_EACH; n++) {
        await desk.enqueue(receiver.url, '{}', null, accountId);
      }
    }
    const worker = desk.worker();
    const startedMs = Date.now();
    const ticking = setInterval(() => void worker.tick(), TICK_MS);
    await Promise.all(healthy.map((receiver) => receiver.until(DELIVERIES_EACH)));
    clearInterval(ticking);
    const waits = healthy
      .flatMap(({ received }) => received.map(({ atMs }) => atMs - startedMs))
      .sort((a, b) => a - b);
    expect(waits[Math.floor(waits.length * 0.99)]).toBeLessThan(P99_MS);
    for (const receiver of hanging) expect(receiver.received.length).toBeLessThanOrEqual(4);
    for (const receiver of hanging) receiver.react(200);
    await Promise.all(hanging.map((receiver) => receiver.stop()));
    await worker.beforeApplicationShutdown();
    receivers = healthy;
  });

  it('leaves a receiver that hung one connection until it answers in time again', async () => {
    const clock = new HandClock();
    const desk = new WebhookDesk(database.dataSource, { clock, timeoutMs: 200 });
    const [receiver] = receivers;
    if (receiver === undefined) throw new Error('there is none');
    for (let n = 0; n < 12; n++) await desk.enqueue(receiver.url);
    receiver.react(() => undefined);
    const worker = desk.worker();
    expect(await worker.tick()).toBe(4);
    await receiver.until(5);
    await sleep(50);
    expect(receiver.received).toHaveLength(5);
    receiver.react(200);
    await receiver.until(12);
    await worker.settled();
  });

  it('makes the attempts of a dead process again once their lease is over, and takes no late word of it', async () => {
    const clock = new HandClock();
    const desk = new WebhookDesk(database.dataSource, { clock, timeoutMs: 5_000 });
    const [receiver] = receivers;
    if (receiver === undefined) throw new Error('there is none');
    receiver.react(() => undefined);
    const ownerId = await desk.enqueue(receiver.url);
    const paused = desk.worker();
    await paused.tick();
    await receiver.until(1);
    const other = desk.worker();
    expect(await other.tick()).toBe(0);
    clock.move(5_000 + 20_001);
    receiver.react(200);
    expect(await other.tick()).toBe(1);
    await other.settled();
    expect(await desk.deliveryOf(ownerId)).toMatchObject({ status: 'delivered' });
    // Only now the first worker hears that its receiver hung: the log tells, the delivery stays.
    await paused.settled();
    const { status, attempts } = await desk.deliveryOf(ownerId);
    expect(status).toBe('delivered');
    expect(attempts.map(({ statusCode, error }) => statusCode ?? error)).toEqual(['timeout', 200]);
  });

  it('shares the due deliveries among workers, each made once', async () => {
    const desk = new WebhookDesk(database.dataSource, { clock: new SystemClock() });
    const owners = await Promise.all(
      receivers.flatMap(({ url }) => Array.from({ length: 10 }, () => desk.enqueue(url))),
    );
    const workers = [desk.worker(), desk.worker(), desk.worker()];
    const all = Promise.all(receivers.map((receiver) => receiver.until(10)));
    const ticking = setInterval(() => {
      for (const worker of workers) void worker.tick();
    }, 20);
    await all;
    clearInterval(ticking);
    await Promise.all(workers.map((worker) => worker.settled()));
    for (const ownerId of owners) {
      expect(await desk.deliveryOf(ownerId)).toMatchObject({
        status: 'delivered',
        attempts: [{ statusCode: 200 }],
      });
    }
  });
});

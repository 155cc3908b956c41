import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { SystemClock } from '../../src/common/time/clock.js';
import { HOUR_MS } from '../../src/common/time/spans.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { WebhookHarness } from '../support/webhook-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const HANGING = 4;
const HEALTHY = 16;
const DELIVERIES_EACH = 20;
const TICK_MS = 100;
const HANG_MS = 60_000;

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
    const harness = new WebhookHarness(database.dataSource, {
      clock: new SystemClock(),
      timeoutMs: HANG_MS,
    });
    const accountId = randomUUID();
    const hanging = receivers.slice(0, HANGING);
    const healthy = receivers.slice(HANGING);
    for (const receiver of hanging) receiver.react(() => undefined);
    // The hanging ones come first, so that they are the longest due.
    const owners: string[] = [];
    for (const receiver of [...hanging, ...healthy]) {
      for (let n = 0; n < DELIVERIES_EACH; n++) {
        owners.push(await harness.enqueue(receiver.url, '{}', null, accountId));
      }
    }
    const worker = harness.worker();
    const ticking = setInterval(() => void worker.tick(), TICK_MS);
    await Promise.all(healthy.map((receiver) => receiver.until(DELIVERIES_EACH)));
    clearInterval(ticking);
    // All of the others are done while not one attempt at a hanging receiver has ended.
    for (const owner of owners.slice(0, HANGING * DELIVERIES_EACH)) {
      expect((await harness.deliveryOf(owner)).attempts).toEqual([]);
    }
    for (const receiver of hanging) expect(receiver.received).toHaveLength(4);
    await Promise.all(hanging.map((receiver) => receiver.stop()));
    await worker.beforeApplicationShutdown();
    receivers = healthy;
  });

  it('lets no account wait for another one whose deliveries hang at the same host (HOOK-25)', async () => {
    const harness = new WebhookHarness(database.dataSource, { clock: new SystemClock() });
    const [receiver] = receivers;
    receiver!.react((response, { path }) => path === '/hangs' || response.end());
    const hanging = new URL('/hangs', receiver!.url).href;
    const slowAccount = randomUUID();
    for (let n = 0; n < DELIVERIES_EACH; n++) {
      await harness.enqueue(hanging, '{}', null, slowAccount);
    }
    const worker = harness.worker();
    await worker.tick();
    // The first of them have run into the deadline, so that the host is known to hang.
    await worker.whenIdle();
    const ticking = setInterval(() => void worker.tick(), TICK_MS);
    const startedMs = Date.now();
    await Promise.all(
      Array.from({ length: DELIVERIES_EACH }, () => harness.enqueue(receiver!.url)),
    );
    const arrived = () => receiver!.received.filter(({ path }) => path !== '/hangs').length;
    while (arrived() < DELIVERIES_EACH && Date.now() - startedMs < 1_500) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    clearInterval(ticking);
    await worker.beforeApplicationShutdown();
    expect(arrived()).toBe(DELIVERIES_EACH);
  });

  it('uses capacity that became free without waiting for the next tick', async () => {
    const harness = new WebhookHarness(database.dataSource, {
      clock: new SystemClock(),
      tickMs: HOUR_MS,
    });
    const [receiver] = receivers;
    const accountId = randomUUID();
    for (let n = 0; n < 10; n++) await harness.enqueue(receiver!.url, '{}', null, accountId);
    const worker = harness.worker();
    worker.onApplicationBootstrap();
    expect(await worker.tick()).toBe(4);
    await receiver!.until(10);
    await worker.beforeApplicationShutdown();
  });

  it('repeats the attempts of a dead process once their lease is over, and ignores its late reports', async () => {
    const harness = new WebhookHarness(database.dataSource, { timeoutMs: 5_000 });
    const [receiver] = receivers;
    if (receiver === undefined) throw new Error('there is none');
    receiver.react(() => undefined);
    const ownerId = await harness.enqueue(receiver.url);
    const paused = harness.worker();
    await paused.tick();
    await receiver.until(1);
    const other = harness.worker();
    expect(await other.tick()).toBe(0);
    await harness.age(5_000 + 20_001);
    receiver.react(200);
    expect(await other.tick()).toBe(1);
    await other.whenIdle();
    expect(await harness.deliveryOf(ownerId)).toMatchObject({ status: 'delivered' });
    // Only now the first worker hears that its receiver hung: the log tells, the delivery stays.
    await paused.whenIdle();
    const { status, attempts } = await harness.deliveryOf(ownerId);
    expect(status).toBe('delivered');
    expect(attempts.map(({ statusCode, error }) => statusCode ?? error)).toEqual(['timeout', 200]);
  });

  it('shares the due deliveries among workers, each made once', async () => {
    const harness = new WebhookHarness(database.dataSource, {
      clock: new SystemClock(),
      timeoutMs: 30_000,
    });
    const owners = await Promise.all(
      receivers.flatMap(({ url }) => Array.from({ length: 10 }, () => harness.enqueue(url))),
    );
    const workers = [harness.worker(), harness.worker(), harness.worker()];
    const all = Promise.all(receivers.map((receiver) => receiver.until(10)));
    const ticking = setInterval(() => {
      for (const worker of workers) void worker.tick();
    }, 20);
    await all;
    clearInterval(ticking);
    await Promise.all(workers.map((worker) => worker.whenIdle()));
    for (const ownerId of owners) {
      expect(await harness.deliveryOf(ownerId)).toMatchObject({
        status: 'delivered',
        attempts: [{ statusCode: 200 }],
      });
    }
  });
});

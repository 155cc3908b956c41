import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DAY_MS } from '../../src/common/time/spans.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { HandClock, SPEC_DELAYS_MS, WebhookHarness } from '../support/webhook-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { signatureOf } from '../../src/webhooks/webhook-signature.js';

const SECRET = 'a secret of the caller';
const FIVE_MINUTES_S = 300;
/** Within this the test reads the database once and lets a worker look. */
const SHORTLY_MS = 8_000;

describe('The schedule of a delivery', () => {
  let database: TestDatabase;
  let receiver: WebhookReceiver;
  let clock: HandClock;
  let harness: WebhookHarness;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.dataSource.query('TRUNCATE webhook_delivery, webhook_attempt');
    receiver = await startWebhookReceiver();
    clock = new HandClock();
    harness = new WebhookHarness(database.dataSource, { clock });
  });
  afterEach(() => receiver.stop());

  /** When the latest work began and ended. */
  const worked = { fromMs: 0, untilMs: 0 };

  /** Lets everything happen that is due now, in a process of its own; returns how many attempts were made. */
  async function workUntilNow(): Promise<number> {
    const worker = harness.worker();
    worked.fromMs = Date.now();
    const started = await worker.tick();
    await worker.whenIdle();
    worked.untilMs = Date.now();
    return started;
  }

  /** Milliseconds until the next attempt of the delivery is due; undefined where none is. */
  async function waitOf(ownerId: string): Promise<number | undefined> {
    const { nextAttemptAt } = await harness.deliveryOf(ownerId);
    return nextAttemptAt === null ? undefined : nextAttemptAt.getTime() - Date.now();
  }

  async function pass(ms: number): Promise<void> {
    clock.move(ms);
    await harness.age(ms);
  }

  /** Moves to the moment the next attempt is due, proving that none is made shortly before. */
  async function nextAttempt(ownerId: string): Promise<number | undefined> {
    const waitMs = await waitOf(ownerId);
    if (waitMs === undefined) return undefined;
    await pass(waitMs - SHORTLY_MS);
    expect(await workUntilNow()).toBe(0);
    await pass(SHORTLY_MS);
    expect(await workUntilNow()).toBe(1);
    return waitMs;
  }

  it('makes seven attempts for a receiver that answers 500 for ever, each wait counted from the end of the attempt before (HOOK-16, G-82)', async () => {
    receiver.react(500);
    const ownerId = await harness.enqueue(receiver.url);
    expect(await workUntilNow()).toBe(1);
    for (const delayMs of SPEC_DELAYS_MS) {
      const dueMs = (await harness.deliveryOf(ownerId)).nextAttemptAt?.getTime();
      expect(dueMs).toBeGreaterThanOrEqual(worked.fromMs + delayMs);
      expect(dueMs).toBeLessThanOrEqual(worked.untilMs + delayMs);
      await nextAttempt(ownerId);
    }
    expect(receiver.received).toHaveLength(7);
    expect(await harness.deliveryOf(ownerId)).toMatchObject({
      status: 'failed',
      nextAttemptAt: null,
    });
    await pass(DAY_MS);
    expect(await workUntilNow()).toBe(0);
  });

  it('signs every attempt afresh over the same bytes, hours later too (HOOK-12, HOOK-22, G-83)', async () => {
    receiver.react(503);
    const body = Buffer.from('{"id":"task_1","status":"succeeded","text":"\u2028 ü"}');
    const ownerId = await harness.enqueue(receiver.url, body, SECRET);
    await workUntilNow();
    const times = [clock.nowSeconds()];
    while ((await nextAttempt(ownerId)) !== undefined) times.push(clock.nowSeconds());
    expect(receiver.received).toHaveLength(7);
    receiver.received.forEach((delivery, index) => {
      const at = times[index] ?? 0;
      expect(delivery.body).toEqual(body);
      expect(delivery.headers['x-shim-signature']).toBe(signatureOf(SECRET, at, body));
    });
    expect((times[6] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(9_400 - FIVE_MINUTES_S);
  });

  it('is over with the first answer that is taken: 503 twice, then 200 (HOOK-17)', async () => {
    receiver.react((response) =>
      response.writeHead(receiver.received.length < 3 ? 503 : 200).end(),
    );
    const ownerId = await harness.enqueue(receiver.url);
    await workUntilNow();
    while ((await nextAttempt(ownerId)) !== undefined);
    const { status, attempts } = await harness.deliveryOf(ownerId);
    expect(status).toBe('delivered');
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([503, 503, 200]);
  });

  it('stops at a 4xx in the middle of it (HOOK-19)', async () => {
    receiver.react((response) =>
      response.writeHead(receiver.received.length < 2 ? 500 : 404).end(),
    );
    const ownerId = await harness.enqueue(receiver.url);
    await workUntilNow();
    await nextAttempt(ownerId);
    const { status, attempts, nextAttemptAt } = await harness.deliveryOf(ownerId);
    expect({ status, nextAttemptAt }).toEqual({ status: 'failed', nextAttemptAt: null });
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([500, 404]);
  });

  it('continues in another process where the first one stopped (HOOK-24, G-82)', async () => {
    receiver.react(500);
    const ownerId = await harness.enqueue(receiver.url);
    await workUntilNow();
    const { nextAttemptAt } = await harness.deliveryOf(ownerId);
    const other = new WebhookHarness(database.dataSource, { clock });
    expect((await other.deliveryOf(ownerId)).nextAttemptAt).toEqual(nextAttemptAt);
    await pass((nextAttemptAt?.getTime() ?? 0) - Date.now());
    const worker = other.worker();
    expect(await worker.tick()).toBe(1);
    await worker.whenIdle();
    expect((await other.deliveryOf(ownerId)).attempts).toHaveLength(2);
  });

  describe('redelivery', () => {
    it('adds one attempt to a delivery that is over, and none after it', async () => {
      receiver.react(404);
      const ownerId = await harness.enqueue(receiver.url);
      await workUntilNow();
      receiver.react(500);
      const { id } = await harness.deliveryOf(ownerId);
      expect(await harness.deliveries.redeliver({ id })).toMatchObject({ id, status: 'pending' });
      expect(await workUntilNow()).toBe(1);
      expect(await harness.deliveryOf(ownerId)).toMatchObject({
        id,
        status: 'failed',
        attempts: [{ statusCode: 404 }, { statusCode: 500 }],
        nextAttemptAt: null,
      });
    });

    it('makes the next attempt of a schedule now and keeps the rest of it', async () => {
      receiver.react(500);
      const ownerId = await harness.enqueue(receiver.url);
      await workUntilNow();
      const { id } = await harness.deliveryOf(ownerId);
      await harness.deliveries.redeliver({ id });
      expect(await workUntilNow()).toBe(1);
      const { attempts, status } = await harness.deliveryOf(ownerId);
      expect({ status, attempts: attempts.length }).toEqual({ status: 'pending', attempts: 2 });
      expect(await waitOf(ownerId)).toBeGreaterThan(30_000 - SHORTLY_MS);
    });

    it('keeps and shows the newest 100 attempts', async () => {
      receiver.react(500);
      const ownerId = await harness.enqueue(receiver.url);
      const { id } = await harness.deliveryOf(ownerId);
      const { dataSource } = database;
      await dataSource.query(
        `INSERT INTO webhook_attempt (account_id, delivery_id, fence, started_at, status_code, duration_ms)
         SELECT account_id, id, i, now(), i, 1 FROM webhook_delivery, generate_series(1, 250) i WHERE id = $1`,
        [id],
      );
      await dataSource.query('UPDATE webhook_delivery SET fence = 250 WHERE id = $1', [id]);
      const codes = async () =>
        (await harness.deliveryOf(ownerId)).attempts.map(({ statusCode }) => statusCode);
      const firstCodes = Array.from({ length: 100 }, (_, index) => 151 + index);
      expect(await codes()).toEqual(firstCodes);
      expect((await harness.deliveries.redeliver({ id }))?.attempts).toHaveLength(100);
      expect(await workUntilNow()).toBe(1);
      expect(await codes()).toEqual([...firstCodes.slice(1), 500]);
      const kept = await dataSource.query<object[]>('SELECT FROM webhook_attempt');
      expect(kept).toHaveLength(100);
    });

    it('finds no delivery of another account or owner', async () => {
      const ownerId = await harness.enqueue(receiver.url);
      const { id, accountId } = await harness.deliveryOf(ownerId);
      expect(await harness.deliveries.redeliver({ id, accountId: ownerId })).toBeUndefined();
      expect(await harness.deliveries.redeliver({ id, ownerId: accountId })).toBeUndefined();
      expect(await harness.deliveries.redeliver({ id: ownerId })).toBeUndefined();
      expect(await harness.deliveries.redeliver({ id, ownerId, accountId })).toMatchObject({ id });
    });
  });
});

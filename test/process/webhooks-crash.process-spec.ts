import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/** By hand more, with `npm run test:crash -- tasks`. */
const KILLS = Number(process.env.KILLS ?? 5);
/** A kill takes a start, so more of them take longer. */
const TEST_TIMEOUT_MS = PROCESS_TEST_TIMEOUT_MS + KILLS * 10_000;
const DELIVERIES_PER_LIFE = 120;
/** The gateway is killed at most this long after its deliveries are due. */
const MAX_LIFE_MS = 900;
/**
 * Answers take up to this long, so that kills happen between a request and its answer, and between the answer and its
 * log.
 */
const MAX_ANSWER_MS = 60;
/** Most attempts at once to the one receiver, which answers quickly. */
const IN_FLIGHT = 32;

let database: TestDatabase;
let receiver: WebhookReceiver;
let gateway: GatewayProgram;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startWebhookReceiver((response) => {
    setTimeout(() => response.writeHead(204).end(), Math.random() * MAX_ANSWER_MS);
  });
  settings = {
    ...receiver.settings,
    DATABASE_URL: database.url,
    PORT: String(await freePort()),
    TASK_TICK_MS: '50',
  };
  gateway = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await receiver.stop();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function enqueue(first: number, count: number): Promise<void> {
  await database.dataSource.query(
    `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, due_at, created_at)
     SELECT $1, gen_random_uuid(), gen_random_uuid(), $2, $3, convert_to((i + $4)::text, 'UTF8'), now(), now()
       FROM generate_series(0, $5::int - 1) i`,
    [randomUUID(), receiver.url, new URL(receiver.url).origin, first, count],
  );
}

/** Kills the gateway and starts another; the leases of the dead one are ended before. */
async function killAndRestart(): Promise<void> {
  await sleep(Math.random() * MAX_LIFE_MS);
  await gateway.end('SIGKILL');
  await database.dataSource.query(`UPDATE webhook_delivery SET due_at = now() WHERE is_under_way`);
  gateway = await startGatewayProgram(settings);
}

async function pending(): Promise<number> {
  const [row] = await database.dataSource.query<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM webhook_delivery WHERE status = 'pending'`,
  );
  return row?.count ?? 0;
}

describe('a sender of webhooks that is killed again and again', () => {
  it(
    'delivers every one, and twice at most what was under way at a kill (HOOK-24)',
    async () => {
      for (let life = 0; life <= KILLS; life += 1) {
        await enqueue(life * DELIVERIES_PER_LIFE, DELIVERIES_PER_LIFE);
        if (life < KILLS) await killAndRestart();
      }
      await until(async () => (await pending()) === 0);
      const counts = new Map<number, number>();
      for (const { body } of receiver.received) {
        const number = Number(body.toString());
        counts.set(number, (counts.get(number) ?? 0) + 1);
      }
      expect(counts.size).toBe((KILLS + 1) * DELIVERIES_PER_LIFE);
      const again = receiver.received.length - counts.size;
      expect(again).toBeLessThanOrEqual(KILLS * IN_FLIGHT);
      const failed = await database.dataSource.query(
        `SELECT id FROM webhook_delivery WHERE status <> 'delivered'`,
      );
      expect(failed).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );
});

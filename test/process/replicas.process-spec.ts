import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, postJson } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { until } from '../support/until.js';
import { RedisServer } from '../support/redis-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** A revocation takes effect everywhere within this time (API: Authentication). */
const REVOKED_WITHIN_MS = 2_000;
const itWithRedis = RedisServer.program === undefined ? it.skip : it;

let database: TestDatabase;
let redis: RedisServer | undefined;
let replicas: GatewayProgram[];

beforeAll(async () => {
  database = await createTestDatabase();
  redis = RedisServer.program === undefined ? undefined : await RedisServer.start();
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis?.url ?? '' };
  replicas = await Promise.all([1, 2].map(() => startGatewayProgram(settings)));
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const first = (): GatewayProgram => replicas[0]!;

/** One counted request. If the limit lets it pass, it is refused because of its body. */
const submit = (replica: GatewayProgram, headers: Record<string, string>): Promise<Answer> =>
  postJson(`${replica.url}/v1/audio/speech`, headers, {});

/** How many of `count` requests per replica pass the limit. */
async function passed(headers: Record<string, string>, count: number): Promise<number[]> {
  const statuses: number[][] = replicas.map(() => []);
  for (let call = 0; call < count; call += 1) {
    for (const [index, replica] of replicas.entries()) {
      statuses[index]?.push((await submit(replica, headers)).status);
    }
  }
  return statuses.map((list) => list.filter((status) => status !== 429).length);
}

const limited = async (perMinute: number): Promise<Record<string, string>> =>
  (await first().account(0n, { requests_per_minute: perMinute })).headers;

describe('two gateways on one database', () => {
  it('both refuse a key within two seconds of its revocation (AUTH-04)', async () => {
    const { keyId, headers } = await first().account();
    const statuses = () =>
      Promise.all(replicas.map(({ url }) => statusOf(`${url}/v1/account`, { headers })));
    expect(await statuses()).toEqual([200, 200]);
    expect((await first().admin('DELETE', `/keys/${keyId}`)).status).toBe(204);
    await sleep(REVOKED_WITHIN_MS);
    expect(await statuses()).toEqual([401, 401]);
  });

  itWithRedis('share a rate limit through Redis', async () => {
    const [here = 0, there = 0] = await passed(await limited(4), 4);
    // With separate limits all eight would pass. One token may be refilled in the meantime.
    expect(here + there).toBeLessThanOrEqual(5);
    expect(here + there).toBeGreaterThanOrEqual(4);
  });

  itWithRedis(
    'serve and limit each for itself while Redis is gone, and share again when it is back',
    async () => {
      await redis?.kill();
      const alone = await passed(await limited(2), 4);
      for (const count of alone) expect([2, 3]).toContain(count);
      // Long enough for a gateway to notice the refused connection.
      await until(() => first().stdout().includes('Redis is not reachable'));
      await redis?.restart();
      await until(async () => {
        const headers = await limited(1);
        await submit(first(), headers);
        return (await submit(replicas[1]!, headers)).status === 429;
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  itWithRedis('tell of the loss of Redis and of its return in a line each', async () => {
    await until(() => first().stdout().includes('Redis is reachable again'));
    const lines = first().stdout().split('\n');
    const warnings = lines.filter((line) => line.includes('Redis is not reachable'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('"level":"warn"');
    expect(warnings[0]).not.toContain('stack');
  });
});

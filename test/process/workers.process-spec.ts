import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { type Answer, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { until } from '../support/until.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';
import type { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { isNode, workersOf } from '../support/worker-processes.js';

/** A revocation takes effect everywhere within this time (API: Authentication). */
const REVOKED_WITHIN_MS = 2_000;
const WORKERS = 2;
/** A connection of its own per request, so that both processes get some. */
const CLOSE = { connection: 'close' };
/** Calls that the provider never answers, and those that it answers when the test says so. */
const HANG = { ...HELLO, input: 'hang' };
const LATER = { ...HELLO, input: 'later' };

let database: TestDatabase;
let gateway: GatewayProgram;
let provider: StubUpstream;
const answersLater: (() => void)[] = [];

const answerAll = (): void => {
  for (const answer of answersLater.splice(0)) answer();
};
const start = () =>
  startGatewayProgram({
    DATABASE_URL: database.url,
    WORKERS: String(WORKERS),
    HOLD_SWEEP_MS: '300',
    ...servedBy(provider),
    SANDBOX: 'on',
    // Accounts beside a provider have real money.
    SANDBOX_CHARGES: 'on',
  });
const speak = (headers: Record<string, string>, body: object = HELLO): Promise<Answer> =>
  postJson(`${gateway.url}/v1/audio/speech`, { ...headers, ...CLOSE }, body);
/** Calls that no provider answers; returns how many are held. */
async function hang(accountId: string, headers: Record<string, string>, count: number) {
  const calls = Array.from({ length: count }, () => speak(headers, HANG));
  for (const call of calls) call.catch(() => undefined);
  await until(async () => (await openHolds(accountId)) === count);
}
async function openHolds(accountId: string): Promise<number> {
  const rows = await database.dataSource.query<{ count: string }[]>(
    `SELECT count(*) FROM execution WHERE status = 'running' AND account_id = (replace($1, 'acct_', ''))::uuid`,
    [accountId],
  );
  return Number(rows[0]?.count);
}

/** Calls of the account that each process began. */
async function callsByProcess(accountId: string): Promise<number[]> {
  const rows = await database.dataSource.query<{ count: string }[]>(
    `SELECT count(*) FROM execution WHERE account_id = (replace($1, 'acct_', ''))::uuid GROUP BY process_id`,
    [accountId],
  );
  return rows.map(({ count }) => Number(count));
}

/** Waits until each process has served a call. */
async function untilAllServe(): Promise<void> {
  const { accountId, headers } = await gateway.account();
  await until(async () => {
    await speak(headers);
    return (await callsByProcess(accountId)).length === WORKERS;
  });
}

async function metric(line: RegExp): Promise<number> {
  const text = (await send(`${gateway.url}/metrics`, { headers: CLOSE })).bytes.toString();
  return [...text.matchAll(line)].reduce((sum, [, value]) => sum + Number(value), 0);
}

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await startStubSpeech();
  provider.reply = (response, { body }) => {
    const answer = () => response.end(MP3_HEAD);
    if (body.includes(LATER.input)) answersLater.push(answer);
    else if (!body.includes(HANG.input)) answer();
  };
  gateway = await start();
  await until(() => workersOf(gateway).length === WORKERS);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await provider.stop();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

describe('two processes on one port', () => {
  it('both take calls and hold for them', async () => {
    await untilAllServe();
    expect((await gateway.admin('GET', '/audit')).json).toMatchObject({ ok: true });
  });

  it('share one sandbox, whose files are published on their port', async () => {
    const { headers } = await gateway.account();
    const draw = { model: 'gen-image-2', prompt: 'A tree [[sandbox:url]]' };
    // The picture comes as a URL. It is refused unless the sandbox and the worker use the same base.
    for (let call = 0; call < 2 * WORKERS; call += 1) {
      const url = `${gateway.url}/v1/images/generations`;
      expect((await postJson(url, { ...headers, ...CLOSE }, draw)).status).toBe(200);
      const none = await send(`${gateway.url}/sandbox/media/none.png`, { headers: CLOSE });
      expect(none.status).toBe(404);
    }
  });

  it('share one rate limit', async () => {
    const { headers } = await gateway.account(0n, { requests_per_minute: 6 });
    const statuses: number[] = [];
    const startedMs = performance.now();
    for (let call = 0; call < 10; call += 1) statuses.push((await speak(headers, {})).status);
    const refilled = Math.ceil((performance.now() - startedMs) / 10_000);
    // With separate limits all would pass. One of six requests per minute comes back every 10 s.
    expect(statuses.filter((status) => status !== 429).length).toBeLessThanOrEqual(6 + refilled);
    expect(statuses.slice(0, 6)).not.toContain(429);
  });

  it('any process answers /metrics for all; requests are added up, holds are not', async () => {
    const seen = /^gateway_http_requests_total\{.*route="\/v1\/models\/:id".*\} (\d+)$/gm;
    const { accountId, headers } = await gateway.account();
    const before = await metric(seen);
    for (let call = 0; call < 7; call += 1) {
      await send(`${gateway.url}/v1/models/aud-v4`, { headers: { ...headers, ...CLOSE } });
    }
    await until(async () => (await metric(seen)) === before + 7);
    await hang(accountId, headers, 2);
    await until(async () => (await metric(/^gateway_holds_open (\d+)$/gm)) === 2);
    expect(await metric(/^gateway_holds_oldest_age_seconds ([\d.]+)$/gm)).toBeLessThan(600);
  });

  it('both refuse a key within two seconds of its revocation', async () => {
    const { keyId, headers } = await gateway.account();
    const statuses = () =>
      Promise.all(
        Array.from({ length: 8 }, () =>
          statusOf(`${gateway.url}/v1/account`, { headers: { ...headers, ...CLOSE } }),
        ),
      );
    expect(new Set(await statuses())).toEqual(new Set([200]));
    expect((await gateway.admin('DELETE', `/keys/${keyId}`)).status).toBe(204);
    await sleep(REVOKED_WITHIN_MS);
    expect(new Set(await statuses())).toEqual(new Set([401]));
  });

  it(
    'are replaced when they are killed, and what they held is released',
    async () => {
      const { accountId, headers } = await gateway.account();
      await hang(accountId, headers, 4);
      const killed = workersOf(gateway);
      for (const pid of killed) process.kill(pid, 'SIGKILL');
      await until(() => {
        const living = workersOf(gateway).filter((pid) => !killed.includes(pid));
        return living.length === WORKERS;
      });
      await until(async () => (await openHolds(accountId)) === 0);
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 200);
      expect((await speak(headers)).status).toBe(200);
      const report = await auditLedger(database.dataSource);
      expect(report).toMatchObject({ ok: true, discrepancies: [] });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'serve on when one of them is killed, and lose no call of their own',
    async () => {
      const { accountId, headers } = await gateway.account();
      const other = await gateway.account();
      // Processes that an earlier test killed may still be starting.
      await untilAllServe();
      const calls = Array.from({ length: 8 }, () => speak(headers, LATER));
      const ends = Promise.allSettled(calls);
      await until(async () => (await openHolds(accountId)) === calls.length);
      const shares = await callsByProcess(accountId);
      const [killed = 0] = workersOf(gateway);
      process.kill(killed, 'SIGKILL');
      await until(() => !workersOf(gateway).includes(killed));
      // The port stays open. What was sent to the killed process at that moment fails, or gets no answer.
      await until(async () => {
        const answer = await send(`${gateway.url}/v1/audio/speech`, {
          method: 'POST',
          headers: { ...other.headers, ...CLOSE, 'content-type': 'application/json' },
          body: JSON.stringify(HELLO),
          signal: AbortSignal.timeout(5_000),
        }).catch(() => undefined);
        return answer?.status === 200;
      });
      answerAll();
      const whole = (await ends).filter(
        (end) => end.status === 'fulfilled' && end.value.status === 200,
      );
      expect(shares).toHaveLength(WORKERS);
      expect(shares).toContain(whole.length);
      await until(async () => (await openHolds(accountId)) === 0);
      const rows = await database.dataSource.query<{ status: string }[]>(
        `SELECT status FROM execution WHERE account_id = (replace($1, 'acct_', ''))::uuid`,
        [accountId],
      );
      expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(whole.length);
      expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'all finish their calls on SIGTERM to the first process',
    async () => {
      const { accountId, headers } = await gateway.account();
      // The process that replaces the killed one may still be starting.
      await untilAllServe();
      const calls = [1, 2, 3, 4].map(() => speak(headers, LATER));
      await until(() => answersLater.length === calls.length);
      expect(await openHolds(accountId)).toBe(calls.length);
      const workers = workersOf(gateway);
      const exited = gateway.end('SIGTERM');
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) !== 200);
      answerAll();
      const answers = await Promise.all(calls);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await exited).toEqual({ code: 0, signal: null });
      expect(workers.filter(isNode)).toEqual([]);
      expect(await openHolds(accountId)).toBe(0);
      gateway = await start();
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'end by themselves when the first process is killed',
    async () => {
      const workers = workersOf(gateway);
      await gateway.end('SIGKILL');
      await until(() => workers.filter(isNode).length === 0);
      gateway = await start();
      expect(workersOf(gateway)).not.toEqual(workers);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

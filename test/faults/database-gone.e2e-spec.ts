import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/common/time/clock.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import type { StubUpstream } from '../support/stub-upstream.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../support/gateway.js';
import { errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';

let stub: StubUpstream;
let proxy: DatabaseProxy;
let gateway: TestGateway;

beforeAll(async () => {
  stub = await startStubSpeech();
  proxy = await startDatabaseProxy(process.env.TEST_SERVER_URL ?? '');
  gateway = await startTestGateway((databaseUrl) => ({
    ...servedBy(stub),
    DATABASE_URL: proxy.through(databaseUrl),
  }));
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await proxy.stop();
  await stub.stop();
});

const speak = (account: TestAccount) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, HELLO);
const works = () => {
  stub.reply = (response) => response.end(MP3_HEAD);
};

/** The provider's connection of the next call. */
function nextAtProvider(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    stub.reply = resolve;
  });
}

/** The answer when its connection has ended, for any reason. */
async function readWhole(call: ClientRequest): Promise<{ answer: IncomingMessage; bytes: number }> {
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', () => undefined);
  await new Promise((resolve) => answer.once('close', resolve));
  return { answer, bytes };
}

/** The account when nothing of it is held any more, read without the proxy. */
async function settled({ accountId }: TestAccount): Promise<{ posted: string; held: string }> {
  for (;;) {
    const [row] = await gateway.dataSource.query<{ posted: string; held: string }[]>(
      `SELECT posted, held FROM account WHERE id = $1`,
      [accountId],
    );
    if (row?.held === '0') return row;
    await sleep(20);
  }
}

async function ready(): Promise<void> {
  while ((await send(`${gateway.url}/health/ready`)).status !== 200) await sleep(20);
}

describe('while the database is gone', () => {
  it('every call is 503 with Retry-After, and the provider hears of none', async () => {
    const account = await gateway.account();
    await proxy.cut();
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const seen = stub.seen.length;
    const answers = await Promise.all([
      speak(account),
      send(`${gateway.url}/v1/account`, { headers: account.headers }),
      send(`${gateway.url}/v1/models`, { headers: account.headers }),
      send(`${gateway.url}/admin/accounts`, { headers: admin }),
      send(`${gateway.url}/admin/audit`, { headers: admin }),
      postJson(`${gateway.url}/admin/accounts`, admin, { name: 'late' }),
    ]);
    const liveness = await send(`${gateway.url}/health/live`);
    // It goes by the last beat, which is two seconds old at some time.
    let readiness = await send(`${gateway.url}/health/ready`);
    while (readiness.status === 200) {
      await sleep(100);
      readiness = await send(`${gateway.url}/health/ready`);
    }
    await proxy.mend();
    for (const answer of answers) {
      expect([answer.status, errorOf(answer).code]).toEqual([503, 'service_unavailable']);
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(answer.bytes.toString()).not.toMatch(/postgres|ECONN|5432|sql/i);
    }
    expect(readiness.headers.get('retry-after')).toBe('1');
    expect(stub.seen.length).toBe(seen);
    expect([readiness.status, liveness.status]).toEqual([503, 200]);
    await ready();
    works();
    expect((await speak(account)).status).toBe(200);
    expect(await settled(account)).toEqual({ posted: '999999400', held: '0' });
  });

  it('a key that was just used does not help: no hold, no call', async () => {
    works();
    const account = await gateway.account();
    expect((await speak(account)).status).toBe(200);
    const seen = stub.seen.length;
    await proxy.cut();
    const answer = await speak(account);
    await proxy.mend();
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(stub.seen.length).toBe(seen);
    await ready();
    expect(await settled(account)).toMatchObject({ posted: '999999400' });
  });
});

it('a database closed for maintenance is 503 too, and serves again when it is opened', async () => {
  works();
  const account = await gateway.account();
  const name = new URL(gateway.config.databaseUrl ?? '').pathname.slice(1);
  const server = createDataSource({ url: process.env.TEST_SERVER_URL ?? '', poolSize: 1 });
  await server.initialize();
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, [
    name,
  ]);
  const seen = stub.seen.length;
  const answer = await speak(account);
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await server.destroy();
  expect({ status: answer.status, code: errorOf(answer).code }).toEqual({
    status: 503,
    code: 'service_unavailable',
  });
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(stub.seen.length).toBe(seen);
  await ready();
  expect((await speak(account)).status).toBe(200);
  expect(await settled(account)).toEqual({ posted: '999999400', held: '0' });
});

describe('a database that goes while the provider works', () => {
  /** Cuts the database off after the hold, lets the provider act, and connects the database again. */
  async function outage(
    act: (response: ServerResponse) => void,
    meanwhile: () => Promise<unknown> = () => sleep(300),
  ): Promise<{ account: TestAccount; answer: IncomingMessage; bytes: number }> {
    const account = await gateway.account(600n);
    const atProvider = nextAtProvider();
    const call = request(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...account.headers, 'content-type': 'application/json' },
      agent: false,
    });
    call.end(JSON.stringify(HELLO));
    const whole = readWhole(call);
    const response = await atProvider;
    await proxy.cut();
    act(response);
    await meanwhile();
    await proxy.mend();
    const { answer, bytes } = await whole;
    await ready();
    return { account, answer, bytes };
  }

  it('and comes back soon costs the caller a moment: the charge is made', async () => {
    const { account, answer, bytes } = await outage((response) => response.end(MP3_HEAD));
    expect([answer.complete, bytes]).toEqual([true, MP3_HEAD.length]);
    expect(await settled(account)).toEqual({ posted: '0', held: '0' });
  });

  it('and a provider that fails then: its error is returned, and the hold is released later', async () => {
    const { account, answer } = await outage((response) => response.writeHead(500).end());
    expect(answer.statusCode).toBe(502);
    expect(await settled(account)).toEqual({ posted: '600', held: '0' });
  });

  it('for longer than the call may wait: no clean end, no charge, no hold', async () => {
    const clock = gateway.app.get(Clock);
    const now = clock.nowMs.bind(clock);
    const { account, answer } = await outage(
      (response) => response.end(MP3_HEAD),
      async () => {
        await sleep(300);
        clock.nowMs = () => now() + 60_000;
        await sleep(1_500);
        // With a clock so wrong the process would not be ready.
        clock.nowMs = now;
      },
    );
    expect(answer.complete).toBe(false);
    expect(await settled(account)).toEqual({ posted: '600', held: '0' });
  });
});

it('sessions ended by the server under load lose no charge and make none up', async () => {
  works();
  const account = await gateway.account(1_000_000n);
  let complete = 0;
  let refused = 0;
  const callers = Array.from({ length: 8 }, async () => {
    for (let call = 0; call < 12; call++) {
      const answer = await speak(account).catch(() => undefined);
      if (answer?.status === 200) complete += 1;
      else refused += 1;
      expect([200, 503, undefined]).toContain(answer?.status);
    }
  });
  const endSessions = () =>
    gateway.dataSource.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
  const killer = setInterval(() => void endSessions().catch(() => undefined), 60);
  await Promise.all(callers);
  clearInterval(killer);
  expect(complete + refused).toBe(96);
  expect(await settled(account)).toEqual({ posted: String(1_000_000 - 600 * complete), held: '0' });
  await gateway.expectCleanBooks();
});

it('a fault of our own in the database is an opaque 500, and nothing stays held (ERR-11, G-12)', async () => {
  works();
  const account = await gateway.account();
  await gateway.dataSource.query(`ALTER TABLE execution RENAME TO execution_gone`);
  const answer = await speak(account);
  await gateway.dataSource.query(`ALTER TABLE execution_gone RENAME TO execution`);
  expect({ status: answer.status, ...errorOf(answer) }).toEqual({
    status: 500,
    code: 'internal_error',
    type: 'server_error',
    param: null,
    message: 'An unexpected error occurred.',
  });
  expect((await speak(account)).status).toBe(200);
  expect(await settled(account)).toMatchObject({ held: '0' });
});

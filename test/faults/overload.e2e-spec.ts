import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { ExecutionLedger } from '../../src/billing/calls/execution-ledger.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { until } from '../support/until.js';

const MAX_WAITING = 2;
const PATIENCE_MS = 60_000;
const ORIGIN = 'https://app.example';
const PATH = '/v1/audio/speech';

let gateway: TestGateway;
let lock: QueryRunner;
let flood: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway({
    MAX_WAITING_REQUESTS: String(MAX_WAITING),
    CORS_ORIGINS: ORIGIN,
  });
  flood = await gateway.account();
  lock = gateway.dataSource.createQueryRunner();
});
afterAll(async () => {
  await lock.release();
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const speak = ({ headers }: TestAccount, more: Record<string, string> = {}) =>
  postJson(gateway.url + PATH, { ...headers, ...more }, HELLO);
const isRefusal = ({ status }: Answer) => status === 503;

/** Posts until one is refused unread; the others wait for their holds. */
async function crowd(): Promise<{ refused: Answer; waiting: Promise<Answer>[] }> {
  const waiting: Promise<Answer>[] = [];
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 100) {
    const asked = speak(flood);
    const answer = await Promise.race([asked, sleep(100)]);
    if (answer) return { refused: answer, waiting };
    waiting.push(asked);
  }
  throw new Error('nothing was refused');
}

/** The bytes of the answer to a request with this target, as it is. */
function raw(target: string, ...more: readonly string[]): Promise<string> {
  const { port } = new URL(gateway.url);
  const body = JSON.stringify(HELLO);
  const head = [
    `POST ${target} HTTP/1.1`,
    'Host: gateway',
    `Authorization: ${flood.headers.authorization}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...more,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', reject);
    socket.once('data', (bytes: Buffer) => {
      resolve(bytes.toString());
      socket.destroy();
    });
    socket.write([...head, '', body].join('\r\n'));
  });
}

/** The names of the headers that every error answer has. */
const namesOf = ({ headers }: Answer): string[] =>
  [...headers.keys()].filter((name) => name !== 'www-authenticate' && name !== 'keep-alive').sort();

/** How many of these calls have a record, and so perhaps a hold. */
async function recorded(answers: readonly Answer[]): Promise<number> {
  const ids = answers.map(({ headers }) => headers.get('x-gateway-execution-id')?.slice(5));
  const [row] = await gateway.dataSource.query<{ count: string }[]>(
    'SELECT count(*) FROM execution WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return Number(row?.count);
}

describe('while calls wait for their holds', () => {
  it('further ones are refused before their hold, and everything else is served', async () => {
    await lock.startTransaction();
    await lock.query('LOCK TABLE execution IN EXCLUSIVE MODE');
    const { refused, waiting } = await crowd();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(errorOf(refused)).toMatchObject({
      code: 'service_unavailable',
      type: 'server_error',
      message: 'The gateway has too much to do right now.',
    });

    const usual = await send(`${gateway.url}/v1/models`);
    expect(namesOf(refused)).toEqual([...namesOf(usual), 'retry-after'].sort());

    const fromPage = await speak(flood, { origin: ORIGIN, 'x-client-request-id': 'mine' });
    expect([fromPage.status, fromPage.headers.get('access-control-allow-origin')]).toEqual([
      503,
      ORIGIN,
    ]);
    expect(fromPage.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(fromPage.headers.get('x-client-request-id')).toBe('mine');
    expect(await raw(PATH)).toMatch(/^HTTP\/1\.1 503 /);
    for (const target of [`http://gateway${PATH}`, 'foo://a', 'http://[', 'http://xn--0']) {
      expect(await raw(target)).toMatch(/^HTTP\/1\.1 503 /);
      expect(await raw(target, 'Connection: close')).toMatch(/^HTTP\/1\.1 503 /);
    }
    const message = await postJson(`${gateway.url}/v1/messages`, flood.headers, {});
    expect([message.status, message.json]).toMatchObject([
      503,
      {
        type: 'error',
        error: { type: 'overloaded_error', code: 'service_unavailable' },
        request_id: message.headers.get('request-id'),
      },
    ]);
    const long = await postJson(gateway.url + PATH, flood.headers, {
      ...HELLO,
      input: 'a'.repeat(100_000),
    });
    expect(long.status).toBe(503);

    expect((await send(`${gateway.url}/v1/models`, { headers: flood.headers })).status).toBe(200);
    expect((await send(`${gateway.url}/health/live`)).status).toBe(200);

    const another = await gateway.account();
    const other = speak(another);
    const { waiting: holds } = gateway.app.get(ExecutionLedger, { strict: false });
    await until(() => holds.readyCallsOf(another.accountId) === 1);

    await lock.rollbackTransaction();
    await Promise.all([...waiting, other]);
    const served = await speak(flood);
    expect([served.status, await recorded([served])]).toEqual([200, 1]);
    expect(await recorded([refused, fromPage, long])).toBe(0);
  });

  it('those of a locked account do not cause refusals for others', async () => {
    const [stuck, other] = [await gateway.account(), await gateway.account()];
    await lock.startTransaction();
    await lock.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [stuck.accountId]);
    const waiting = Array.from({ length: 10 * MAX_WAITING }, () => speak(stuck));
    const startedAt = performance.now();
    // Longer than a crowd has to last.
    while (performance.now() - startedAt < 1_500) expect(isRefusal(await speak(other))).toBe(false);
    await lock.rollbackTransaction();
    await Promise.all(waiting);
  });
});

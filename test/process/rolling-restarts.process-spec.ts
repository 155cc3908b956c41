import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { SKY_CHAT } from '../support/chat-harness.js';
import { Haproxy } from '../support/haproxy.js';
import { postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  startGatewayProgram,
  statusOf,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { VIDEO } from '../support/video-harness.js';

const TIMEOUT_MS = 400_000 * Math.max(1, Number(process.env.RESTARTS ?? 3) / 6);
/** `RESTARTS=20` proves it at length. */
const RESTARTS = Number(process.env.RESTARTS ?? 3);
const CREDIT = 1_000_000_000n;
/** The check of the balancer takes up to 6 s, and longer on a busy machine. */
const NOTICE_MS = 9_000;
/** Between the calls of one client: the machine has other work. */
const PAUSE_MS = 200;
const UPLOAD_PIECES = 6;
const UPLOAD_PIECE_MS = 200;

let database: TestDatabase;
let sandbox: Sandbox;
let balancer: Haproxy;
let gateways: GatewayProgram[];
let settings: NodeJS.ProcessEnv;
beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
  const { apiKey, url } = sandbox;
  settings = {
    DATABASE_URL: database.url,
    DRAIN_NOTICE_MS: String(NOTICE_MS),
    ELEVENLABS_API_KEY: apiKey,
    ELEVENLABS_BASE_URL: `${url}/elevenlabs`,
    OPENAI_API_KEY: apiKey,
    OPENAI_BASE_URL: `${url}/openai/v1`,
    VIDEO_API_KEY: apiKey,
    VIDEO_BASE_URL: `${url}/video/v1`,
    EGRESS_ALLOW: new URL(url).host,
  };
  const ports = [String(await freePort()), String(await freePort())];
  gateways = [];
  for (const PORT of ports) gateways.push(await startGatewayProgram({ ...settings, PORT }));
  balancer = await Haproxy.start('gateways.cfg', {
    FIRST: gateways[0]!.url,
    SECOND: gateways[1]!.url,
  });
}, TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await sandbox.close();
  await database.drop();
}, TIMEOUT_MS);

/** A JSON body that arrives piece by piece. */
function slowly(body: object): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(JSON.stringify(body));
  const size = Math.ceil(bytes.length / UPLOAD_PIECES);
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(bytes.subarray(sent, (sent += size)));
      if (sent >= bytes.length) controller.close();
      else await sleep(UPLOAD_PIECE_MS);
    },
  });
}

const describeWithHaproxy = Haproxy.path === undefined ? describe.skip : describe;

describeWithHaproxy('restarts one by one behind HAProxy', () => {
  it(
    'refuse no call, stream, upload or task of clients that keep their connections',
    async () => {
      const buyer = await gateways[0]!.account(CREDIT);
      const { headers } = buyer;
      const json = { ...headers, 'content-type': 'application/json' };
      const calls: Record<string, () => Promise<{ status: number; isWhole: boolean }>> = {
        call: async () => {
          const { status, bytes } = await postJson(
            `${balancer.url}/v1/audio/speech`,
            headers,
            HELLO,
          );
          return { status, isWhole: bytes.length > 1_000 };
        },
        stream: async () => {
          const body = { ...SKY_CHAT, stream: true };
          const path = '/v1/chat/completions';
          const { status, bytes } = await postJson(`${balancer.url}${path}`, headers, body);
          return { status, isWhole: bytes.toString().includes('data: [DONE]') };
        },
        upload: async () => {
          const init = { method: 'POST', headers: json, body: slowly(HELLO), duplex: 'half' };
          const answer = await send(`${balancer.url}/v1/audio/speech`, init as RequestInit);
          return { status: answer.status, isWhole: answer.bytes.length > 1_000 };
        },
        long: async () => {
          const input = '[[sandbox:delay=2500]]Hello there.';
          const url = `${balancer.url}/v1/audio/speech`;
          const { status, bytes } = await postJson(url, headers, { ...HELLO, input });
          return { status, isWhole: bytes.length > 1_000 };
        },
        task: async () => {
          const body = { ...VIDEO, prompt: 'The sea [[sandbox:task-ms=1]]' };
          const { status, json: task } = await postJson(`${balancer.url}/v1/videos`, headers, body);
          return { status, isWhole: (task as { id?: string }).id !== undefined };
        },
      };
      const refused: unknown[] = [];
      const made: Record<string, number> = {};
      let goesOn = true;
      const clients = Object.entries(calls).map(async ([kind, call]) => {
        while (goesOn) {
          const outcome = await call().catch((error: unknown) => ({ error: String(error) }));
          const isGood = 'status' in outcome && outcome.status === 200 && outcome.isWhole;
          if (!isGood) refused.push({ kind, outcome });
          made[kind] = (made[kind] ?? 0) + 1;
          await sleep(PAUSE_MS);
        }
      });
      for (let restart = 0; restart < RESTARTS; restart += 1) {
        const index = restart % gateways.length;
        const { url } = gateways[index]!;
        await until(() => balancer.areUp());
        expect(await gateways[index]!.end('SIGTERM')).toEqual({ code: 0, signal: null });
        gateways[index] = await startGatewayProgram({ ...settings, PORT: new URL(url).port });
      }
      goesOn = false;
      await Promise.all(clients);
      expect(refused).toEqual([]);
      expect(Object.keys(made).sort()).toEqual(Object.keys(calls).sort());
      await until(async () => {
        const [row] = await database.dataSource.query<{ held: number }[]>(
          'SELECT sum(held)::int AS held FROM account',
        );
        return row?.held === 0;
      });
      expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ ok: true });
    },
    TIMEOUT_MS,
  );

  it(
    'still take calls for DRAIN_NOTICE_MS after readiness says 503, then refuse them, and serve operators to the end',
    async () => {
      const [gateway] = gateways as [GatewayProgram];
      const { headers } = await gateway.account(CREDIT);
      const speak = (input: string) =>
        postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, input });
      const last = speak('[[sandbox:delay=15000]]Hello there.');
      await until(async () =>
        (await send(`${gateway.url}/metrics`)).bytes.toString().includes('gateway_draining 0'),
      );
      const exited = gateway.end('SIGTERM');
      await until(async () => (await statusOf(`${gateway.url}/health/ready`)) === 503);
      const taken = await speak('Hello');
      expect(taken.status).toBe(200);
      expect(taken.headers.get('connection')).toBe('close');
      await until(async () => (await speak('Hello')).status === 503);
      expect(await statusOf(`${gateway.url}/health/live`)).toBe(200);
      const metrics = await send(`${gateway.url}/metrics`);
      expect(metrics.bytes.toString()).toContain('gateway_draining 1');
      expect((await gateway.admin('GET', '/accounts')).status).toBe(200);
      const answer = await last;
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
      expect(await exited).toEqual({ code: 0, signal: null });
    },
    TIMEOUT_MS,
  );
});

import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  runBuilt,
  SECRET_KEY,
  startGatewayProgram,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

type Line = Readonly<Record<string, unknown>>;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const start = (settings: NodeJS.ProcessEnv) =>
  startGatewayProgram({ DATABASE_URL: database.url, ...settings });
const idOf = (answer: Answer): string => answer.headers.get('x-gateway-execution-id') ?? '';
/** Every line as JSON; fails the test when a line is not JSON. */
const linesOf = (gateway: GatewayProgram): Line[] =>
  gateway
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

describe('the log', () => {
  it(
    'is JSON lines: one per request with its execution id and why it was refused, one more where the gateway or a provider failed, all out at the end',
    async () => {
      const gateway = await start({ PUBLIC_URL: 'http://gateway.test' });
      const { headers } = await gateway.account();
      const speak = (body: object, key: Record<string, string> = headers) =>
        postJson(`${gateway.url}/v1/audio/speech`, key, body);
      const [good, bad, broken, anonymous, lost, wrong, last] = [
        await speak(HELLO),
        await speak({ ...HELLO, speed: 9 }),
        await speak({ ...HELLO, input: '[[sandbox:status=500]]' }),
        await speak(HELLO, {}),
        await send(`${gateway.url}/nowhere`),
        await send(`${gateway.url}/v1/audio/speech?text=hello`, { headers }),
        await send(`${gateway.url}/v1/models`, { headers }),
      ];
      expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
      const lines = linesOf(gateway);
      for (const line of lines) {
        expect(line).toMatchObject({ level: expect.any(String), msg: expect.any(String) });
        expect(new Date(line.time as string).getTime()).not.toBeNaN();
      }
      const about = (answer: Answer) =>
        lines.filter(({ execution_id }) => execution_id === idOf(answer));
      const request = (answer: Answer, method: string, route: string) => {
        const found = about(answer).filter(({ msg }) => msg === 'request');
        expect(found).toEqual([expect.objectContaining({ method, route, status: answer.status })]);
        expect(found[0]?.duration_ms).toBeGreaterThan(0);
      };
      for (const answer of [good, bad, broken, anonymous]) {
        request(answer, 'POST', '/v1/audio/speech');
      }
      request(lost, 'GET', 'unmatched');
      // The path exists, but not its method. The query is not logged.
      expect(wrong.status).toBe(405);
      request(wrong, 'GET', 'unmatched');
      request(last, 'GET', '/v1/models');
      const refused = [bad, anonymous, lost, wrong];
      for (const answer of refused) expect(about(answer)).toHaveLength(1);
      expect(refused.flatMap(about).map(({ level, code }) => [level, code])).toEqual([
        ['info', 'invalid_request'],
        ['info', 'invalid_token'],
        ['info', 'not_found'],
        ['info', 'method_not_allowed'],
      ]);
      expect(about(bad)).toMatchObject([
        { param: 'speed', reason: expect.stringContaining('speed must be') },
      ]);
      const [failure, itsRequest] = about(broken);
      expect(failure).toMatchObject({ level: 'error', code: 'provider_http_error' });
      expect(failure).toMatchObject({ model: 'aud-v4', cause: { type: 'ProviderError' } });
      expect(itsRequest).toMatchObject({ msg: 'request', code: 'provider_http_error' });
      expect(gateway.stdout()).not.toContain('text=hello');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'tells of each request who called from where, which model, what it cost and how long the provider took',
    async () => {
      const gateway = await start({ TRUST_PROXY: '127.0.0.0/8' });
      const { accountId, keyId, headers } = await gateway.account();
      const named = {
        'x-client-request-id': 'order-7',
        traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
      };
      await postJson(`${gateway.url}/v1/audio/speech`, { ...headers, ...named }, HELLO);
      const untraced = { ...headers, traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` };
      const asked = { ...HELLO, model: 'nothing' };
      await postJson(
        `${gateway.url}/v1/audio/speech`,
        { ...untraced, 'x-client-request-id': 'order-8' },
        asked,
      );
      await send(`${gateway.url}/nowhere/to/be/found?secret=1`, {
        headers: { 'x-forwarded-for': '203.0.113.9' },
      });
      await send(`${gateway.url}/health/live`);
      await gateway.end('SIGTERM');
      const lines = linesOf(gateway).filter(({ msg }) => msg === 'request');
      expect(lines.find(({ route }) => route === '/v1/audio/speech')).toMatchObject({
        address: expect.stringContaining('127.0.0.1'),
        account_id: accountId,
        api_key_id: keyId,
        model: HELLO.model,
        charged_microusd: expect.stringMatching(/^[1-9]\d*$/),
        upstream_ms: expect.any(Number),
        client_request_id: 'order-7',
        trace_id: TRACE,
        provider: expect.any(String),
        upstream_model: 'eleven_v4',
        provider_request_id: expect.any(String),
        attempts: 1,
        host: hostname(),
        process: expect.any(Number),
      });
      // What was refused before its hold is found by the caller's id.
      const refused = lines.filter(({ client_request_id: id }) => id === 'order-8');
      expect(refused).toMatchObject([{ code: 'model_not_available', param: 'model' }]);
      expect(refused[0]).not.toMatchObject({ trace_id: TRACE });
      expect(lines.find(({ route }) => route === 'unmatched')).toMatchObject({
        path: '/nowhere/to/be/…',
        address: '203.0.113.9',
      });
      expect(lines.filter(({ route }) => String(route).startsWith('/health'))).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'tells of the start with its address and providers, and of the stop',
    async () => {
      const gateway = await start({ ELEVENLABS_API_KEY: 'real-key', SANDBOX: 'on' });
      await gateway.end('SIGTERM');
      const told = linesOf(gateway).filter(({ msg }) =>
        ['Shim is ready', 'draining', 'stopped'].includes(String(msg)),
      );
      expect(told).toMatchObject([
        {
          url: gateway.url,
          docs: `${gateway.url}/docs`,
          real: ['elevenlabs'],
          sandboxed: expect.arrayContaining(['openai', 'gemini', 'luma', 'kling']),
        },
        { msg: 'draining', in_flight: 0 },
        { msg: 'stopped' },
      ]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'names in one line the models that cannot run, by their provider',
    async () => {
      const gateway = await start({ ELEVENLABS_API_KEY: 'real-key', OPENAI_API_KEY: 'real-key' });
      await gateway.end('SIGTERM');
      const told = linesOf(gateway).filter(({ msg }) => String(msg).startsWith('Models that'));
      expect(told.map(({ level, msg }) => [level, msg])).toEqual([
        [
          'warn',
          'Models that cannot run, because their provider is not configured: ' +
            'vid-omni, vid-motion, vid-cine (video); 42 models (ttapi). ' +
            'Set the key of the provider, or SANDBOX=on to try them out',
        ],
      ]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'names the providers whose key is set although no model is sold of them',
    async () => {
      const gateway = await start({ ANTHROPIC_API_KEY: 'real-key', SANDBOX: 'on' });
      await gateway.end('SIGTERM');
      const told = linesOf(gateway).filter(({ msg }) => String(msg).startsWith('Providers that'));
      expect(told).toMatchObject([{ level: 'warn', providers: ['anthropic'] }]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'says in one sentence why it could not start',
    async () => {
      const first = await start({});
      const { port } = new URL(first.url);
      const second = runBuilt('main.js', [], {
        DATABASE_URL: database.url,
        SECRET_KEY,
        PORT: port,
        // The database of tests is told as one that may lose what it confirmed.
        LOG_LEVEL: 'error',
      });
      expect(await second.exited).toEqual({ code: 1, signal: null });
      expect(second.stderr()).toBe(
        `The gateway could not start: port ${port} of 127.0.0.1 is in use by another program. Stop it, or set another PORT.\n`,
      );
      expect(second.stdout()).toBe('');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'says so where a client left before the end of its answer',
    async () => {
      const gateway = await start({});
      const { headers } = await gateway.account();
      const left = new AbortController();
      const body = JSON.stringify({ ...HELLO, input: '[[sandbox:delay=5000]]Hello' });
      const call = fetch(`${gateway.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        signal: left.signal,
      });
      call.catch(() => undefined);
      await until(async () => {
        const answer = await send(`${gateway.url}/v1/account`, { headers });
        return (answer.json as { held_microusd: string }).held_microusd !== '0';
      });
      left.abort();
      await until(() => gateway.stdout().includes('"complete":false'));
      const unfinished = linesOf(gateway).filter(({ complete }) => complete === false);
      expect(unfinished).toEqual([expect.objectContaining({ route: '/v1/audio/speech' })]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each([
    ['warn', 1],
    ['silent', 0],
  ])(
    'at LOG_LEVEL=%s tells nothing less important',
    async (level, warnings) => {
      const gateway = await start({ LOG_LEVEL: level, EGRESS_ALLOW: '127.0.0.1:9' });
      await send(`${gateway.url}/nowhere`);
      await gateway.end('SIGTERM');
      const lines = linesOf(gateway);
      expect(lines.filter((line) => line.level !== 'warn')).toEqual([]);
      expect(lines.filter(({ msg }) => String(msg).includes('EGRESS_ALLOW'))).toHaveLength(
        warnings,
      );
      expect(gateway.stderr()).toBe('');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { upstreamCalls } from '../support/refusal.js';
import { INSTANT } from '../support/paid-speech.js';

const UPSTREAM_TIMEOUT_MS = 2_000;

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway({ UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS) });
  account = await gateway.account();
});
/** Good calls between the bad ones keep the circuit breaker closed. */
beforeEach(async () => {
  for (let good = 0; good < 3; good++) expect((await speak({ input: INSTANT })).status).toBe(200);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const magic = (...words: string[]) => words.map((word) => `[[sandbox:${word}]]`).join('');
const speak = (fields: object, by = account) =>
  postJson(`${gateway.url}/v1/audio/speech`, by.headers, { ...HELLO, ...fields });

/** The outcome of a call for its caller. */
async function executionOf(answer: { headers: Headers }) {
  const id = answer.headers.get('x-gateway-execution-id') ?? '';
  const found = await send(`${gateway.url}/v1/executions/${id}`, { headers: account.headers });
  return found.json as Record<string, unknown>;
}

/** One provider call, no charge, nothing held, and the execution has the same code. */
async function expectFree(call: () => Promise<Answer>, status: number, code: string) {
  const before = { ...(await gateway.balance(account.accountId)) };
  const sent = await upstreamCalls(gateway);
  const answer = await call();
  expect({ status: answer.status, code: errorOf(answer).code }).toEqual({ status, code });
  expect(await gateway.balance(account.accountId)).toEqual(before);
  expect((await upstreamCalls(gateway)) - sent).toBe(1);
  expect(await executionOf(answer)).toMatchObject({
    status: 'failed',
    error_code: code,
    charged_microusd: null,
  });
  expect(answer.headers.get('x-gateway-charge-microusd')).toBeNull();
  return answer;
}

describe('a provider that', () => {
  it.each([
    ['fails with 500', 'SPEECH-09', 'status=500', 502, 'provider_http_error'],
    ['fails with 502', 'SPEECH-09', 'status=502', 502, 'provider_http_error'],
    ['never answers', 'SPEECH-10', 'hang', 502, 'provider_timeout'],
    ['answers 504', 'SPEECH-10', 'status=504', 502, 'provider_timeout'],
    ['refuses with 400', 'SPEECH-11', 'status=400', 400, 'provider_rejected_request'],
    ['refuses with 422', 'SPEECH-11', 'status=422', 400, 'provider_rejected_request'],
    ['refuses with 451', 'SPEECH-11', 'status=451', 400, 'provider_rejected_request'],
    ['limits the rate', 'SPEECH-12', 'status=429', 429, 'provider_rate_limited'],
    ['is overloaded', 'BILL-07', 'status=503', 503, 'provider_unavailable'],
    ['does not know our key', 'BILL-07', 'status=401', 503, 'provider_unavailable'],
    ['has no money of ours', 'BILL-07', 'status=402', 503, 'provider_unavailable'],
    ['keeps us out', 'BILL-07', 'status=403', 503, 'provider_unavailable'],
    ['does not know the path', 'BILL-07', 'status=404', 503, 'no_eligible_route'],
    ['cuts the connection', 'BILL-07', 'reset', 502, 'provider_http_error'],
    ['answers a web page', 'BILL-07', 'html', 502, 'provider_http_error'],
    ['answers JSON', 'BILL-07', 'json', 502, 'provider_http_error'],
    ['answers nothing', 'BILL-07', 'empty', 502, 'provider_http_error'],
    ['answers another format', 'BILL-07', 'wrong-format', 502, 'provider_http_error'],
  ])('%s costs nothing (%s)', async (_what, _row, word, status, code) => {
    await expectFree(() => speak({ input: magic(word) }), status, code);
  });

  it('limits the rate passes its Retry-After on, kept within a minute (SPEECH-12)', async () => {
    const limited = async (...words: string[]) => {
      const answer = await speak({ input: magic('status=429', ...words) });
      return answer.headers.get('retry-after');
    };
    expect(await limited('retry-after=3')).toBe('3');
    expect(await limited('retry-after=3000')).toBe('60');
    expect(await limited()).toBe('7');
  });

  it('never responds has the header that stops SDKs from retrying', async () => {
    const answer = await expectFree(() => speak({ input: magic('hang') }), 502, 'provider_timeout');
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  it('does not speak a language refuses it, uncharged (SPEECH-50)', async () => {
    await expectFree(() => speak({ language: 'xx' }), 400, 'provider_rejected_request');
  });

  it('does not take a parameter of the model refuses it, uncharged (SPEECH-74, G-39)', async () => {
    const fields = { model: 'aud-v3', previous_text: 'Before.' };
    await expectFree(() => speak(fields), 400, 'provider_rejected_request');
    const [upstream] = await gateway.upstreamRequests();
    expect(upstream?.body).toMatchObject({ previous_text: 'Before.' });
  });

  it.each(['opus', 'pcm', 'wav', 'mp3'])(
    'answers something else than %s is found out before the head',
    async (response_format) => {
      const words = response_format === 'pcm' ? 'html' : 'wrong-format';
      const call = () => speak({ input: magic(words), response_format });
      await expectFree(call, 502, 'provider_http_error');
    },
  );
});

describe('a body that', () => {
  /** Sends the call and reads until the connection ends. */
  async function readAll(fields: object): Promise<{
    answer: IncomingMessage;
    bytes: number;
    isComplete: boolean;
    execution: Record<string, unknown>;
  }> {
    const call = request(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...account.headers, 'content-type': 'application/json' },
      agent: false,
    });
    call.end(JSON.stringify({ ...HELLO, ...fields }));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', () => undefined);
    await new Promise((resolve) => answer.once('close', resolve));
    const id = answer.headers['x-gateway-execution-id'] as string;
    const headers = new Headers({ 'x-gateway-execution-id': id });
    const execution = await executionOf({ headers });
    return { answer, bytes, isComplete: answer.complete, execution };
  }

  it.each([
    ['breaks off', 'break-body', 'provider_http_error'],
    ['falls silent', 'hang-body', 'provider_timeout'],
  ])(
    '%s reaches the client cut short, never as a whole, and is free',
    async (_name, word, code) => {
      const before = await gateway.balance(account.accountId);
      const input = `${magic(word)} a long text`;
      const cut = await readAll({ input, response_format: 'mp3' });
      expect(cut.answer.statusCode).toBe(200);
      expect(cut.bytes).toBeGreaterThan(0);
      expect(cut.isComplete).toBe(false);
      // A WAV begins when it is whole, so that its client gets an error.
      const held = await readAll({ input, response_format: 'wav' });
      expect(held.answer.statusCode).toBeGreaterThanOrEqual(502);
      expect(held.isComplete).toBe(true);
      for (const { execution } of [cut, held]) {
        expect(execution).toMatchObject({ status: 'failed', error_code: code });
      }
      expect(await gateway.balance(account.accountId)).toEqual(before);
    },
  );

  it('breaks off is not mistaken for the end by HTTP/1.0, whose bodies end with the connection', async () => {
    const body = JSON.stringify({ ...HELLO, input: `${magic('break-body')} a long text` });
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname).resume();
    const head = [
      'POST /v1/audio/speech HTTP/1.0',
      `Authorization: ${account.headers.authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    const ended = once(socket, 'end').then(() => 'the whole answer');
    expect(await Promise.race([ended, once(socket, 'error')])).toMatchObject([
      { code: 'ECONNRESET' },
    ]);
  });

  it('comes slowly but steadily is never cut, however long it takes in all', async () => {
    const slow = await readAll({ input: `${magic('slow=300')} a text`, response_format: 'pcm' });
    expect(slow.isComplete).toBe(true);
    expect(slow.execution).toMatchObject({ status: 'succeeded', charged_microusd: '3240' });
  });

  it('is late but in time is served', async () => {
    const answer = await speak({ input: `${magic('delay=100')}Hi` });
    expect(answer.status).toBe(200);
  });
});

it('a failing provider does not hold up other callers, and every hold is gone', async () => {
  const started = speak({ input: magic('hang') });
  await sleep(20);
  expect((await speak({})).status).toBe(200);
  expect((await started).status).toBe(502);
  expect((await gateway.balance(account.accountId)).held).toBe(0n);
});

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';

const ORIGIN = 'https://app.example';
const OVER_32_MIB = 33 * 1024 * 1024;
const SLOW_MS = 300;
const ID = expect.stringMatching(/^exec_[0-9a-f]{32}$/);

let gateway: TestGateway;
let account: TestAccount;
let url: string;

beforeAll(async () => {
  gateway = await startTestGateway({ CORS_ORIGINS: ORIGIN });
  account = await gateway.account();
  url = `${gateway.url}/v1/messages`;
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const HELLO = { model: 'gen-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
const post = (body: unknown, path = ''): Promise<Answer> =>
  postJson(url + path, account.headers, body);

/** What the gateway answers to these bytes, until it closes the connection. */
function raw(...lines: readonly string[]): Promise<string> {
  const { port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1').on('error', reject);
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('close', () => {
      resolve(text);
    });
    socket.write(lines.join('\r\n'));
  });
}

const bodyOf = (answer: string): JsonObject =>
  JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as JsonObject;

describe('the id of a request to Messages', () => {
  it.each([
    ['a message', '', HELLO, 200],
    ['a stream', '', { ...HELLO, stream: true }, 200],
    ['a count', '/count_tokens', HELLO, 200],
    ['a refusal', '', { ...HELLO, messages: [] }, 400],
    ['a refused count', '/count_tokens', { ...HELLO, model: 'gen-99' }, 404],
  ])('is in the header of its clients: %s', async (_what, path, body, status) => {
    const { status: got, headers } = await post(body, path);
    expect([got, headers.get('request-id')]).toEqual([status, ID]);
    expect(headers.get('request-id')).toBe(headers.get('x-gateway-execution-id'));
  });

  it('can be read by pages, and is nowhere else', async () => {
    const headers = { ...account.headers, origin: ORIGIN };
    const answer = await postJson(url, headers, HELLO);
    expect(answer.headers.get('access-control-expose-headers')?.split(', ')).toContain(
      'request-id',
    );
    const models = `${gateway.url}/v1/models`;
    expect((await send(models, { headers })).headers.has('request-id')).toBe(false);
    const version = { ...headers, 'anthropic-version': '2023-06-01' };
    expect((await send(models, { headers: version })).headers.get('request-id')).toEqual(ID);
  });
});

describe('a refusal before the call, in the form of Messages', () => {
  it.each<[string, () => Promise<Answer>, number, string]>([
    ['of a path that does not exist', () => post(HELLO, '/batches'), 404, 'not_found_error'],
    ['of a method', () => send(url, { headers: account.headers }), 405, 'api_error'],
    ['of broken JSON', () => post('{"model":'), 400, 'invalid_request_error'],
    [
      'of a body that is too large',
      () => post({ ...HELLO, system: 'a'.repeat(OVER_32_MIB) }),
      413,
      'request_too_large',
    ],
  ])('%s', async (_what, ask, status, type) => {
    const answer = await ask();
    expect([answer.status, answer.json]).toEqual([
      status,
      {
        type: 'error',
        error: expect.objectContaining({ type, message: expect.any(String) }),
        request_id: answer.headers.get('request-id'),
      },
    ]);
  });

  it('of a head with two keys', async () => {
    const answer = await raw(
      'POST /v1/messages HTTP/1.1',
      'Host: gateway',
      'Authorization: Bearer a',
      'Authorization: Bearer b',
      '',
      '',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(bodyOf(answer)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
      request_id: null,
    });
  });

  it('of a body that comes too slowly, with its id', async () => {
    const server = gateway.app.getHttpServer();
    const { requestTimeout } = server;
    server.requestTimeout = SLOW_MS;
    const answer = await raw(
      'POST /v1/messages?beta=true HTTP/1.1',
      'Host: gateway',
      `Authorization: ${account.headers.authorization}`,
      'Content-Type: application/json',
      'Content-Length: 100',
      '',
      '{',
    );
    server.requestTimeout = requestTimeout;
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    const [, id] = /\r\nrequest-id: (\S+)\r\n/.exec(answer) ?? [];
    expect(id).toEqual(ID);
    expect(bodyOf(answer)).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
      request_id: id,
    });
  });
});

it('answers 529 where the provider is overloaded, and nothing is paid', async () => {
  const before = await gateway.balance(account.accountId);
  const messages = [{ role: 'user', content: '[[sandbox:status=529]]' }];
  const answer = await post({ ...HELLO, messages });
  expect([answer.status, answer.json]).toMatchObject([
    529,
    { error: { type: 'overloaded_error', code: 'provider_unavailable', message: 'Overloaded' } },
  ]);
  expect(await gateway.balance(account.accountId)).toEqual(before);
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { expectRefused } from '../support/refusal.js';

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const url = () => `${gateway.url}/v1/audio/speech`;
const nested = (open: string, close: string, depth: number) =>
  open.repeat(depth) + close.repeat(depth);
const around = (member: string) => `{"model":"aud-v4","input":"Hello","voice":"Adam",${member}}`;
const many = (count: number, item: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');

const HOSTILE_JSON: readonly (readonly [string, string])[] = [
  ['nested 33 deep', around(`"x":${nested('[', ']', 33)}`)],
  ['nested 100,000 deep', nested('[', ']', 100_000)],
  ['nested 100,000 deep and never closed', '{"a":'.repeat(100_000)],
  ['with 100,000 keys', `{${many(100_000, (index) => `"${index.toString(36)}":1`)}}`],
  ['with a list of 300,000 numbers', around(`"x":[${many(300_000, () => '1')}]`)],
  ['with __proto__', around('"__proto__":{"voice":"Adam"}')],
  ['with __proto__ escaped', around('"\\u005f_proto__":1')],
  ['with constructor.prototype', around('"constructor":{"prototype":{"a":1}}')],
  ['with toString as a field', around('"toString":1')],
  ['with a lone surrogate as a key', around('"\\ud800":1')],
  ['with a lone surrogate in a text', around('"next_text":"\\udfff"')],
  ['with U+0000 in a text', around('"next_text":"\\u0000"')],
  ['with a number of 500,000 digits', around(`"seed":${'9'.repeat(500_000)}`)],
  ['with an endless fraction', around(`"speed":2.${'0'.repeat(500_000)}1`)],
  ['with NaN', around('"speed":NaN')],
  ['with a comment', around('"seed":1/* one */')],
  ['with a trailing comma', '{"model":"aud-v4",}'],
  ['with 160,000 escapes', around(`"foo":"${'\\u0061'.repeat(160_000)}"`)],
  ['with two values', '{}{}'],
];

describe('a JSON body', () => {
  it.each(HOSTILE_JSON)('%s is refused', async (_what, text) => {
    const call = () => postJson(url(), account.headers, text);
    await expectRefused(gateway, account.accountId, call, {
      status: 400,
      code: 'invalid_request',
    });
  });

  it.each([
    ['in UTF-16', Buffer.from(JSON.stringify(HELLO), 'utf16le')],
    ['with bytes that are no UTF-8', Buffer.from([...Buffer.from('{"model":"'), 0xff, 0x22, 0x7d])],
    ['with a surrogate as UTF-8 bytes', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['with an overlong encoding', Buffer.from([0x7b, 0xc0, 0xaf, 0x7d])],
  ])('%s is refused', async (_what, bytes) => {
    const call = () =>
      send(url(), {
        method: 'POST',
        headers: { ...account.headers, 'content-type': 'application/json' },
        body: new Uint8Array(bytes),
      });
    await expectRefused(gateway, account.accountId, call, {
      status: 400,
      code: 'invalid_request',
      param: null,
    });
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'nonsense', 'gzip, identity'])(
    'in the encoding %s is refused unread',
    async (encoding) => {
      const call = () =>
        send(url(), {
          method: 'POST',
          headers: {
            ...account.headers,
            'content-type': 'application/json',
            'content-encoding': encoding,
          },
          body: new Uint8Array(gzipSync(JSON.stringify(HELLO))),
        });
      await expectRefused(gateway, account.accountId, call, {
        status: 400,
        code: 'invalid_request',
        param: 'Content-Encoding',
      });
    },
  );

  it('does not affect objects that are created later', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });
});

describe('on the wire', () => {
  const port = () => Number(new URL(gateway.url).port);
  const open = (): Socket => connect(port(), '127.0.0.1').on('error', () => undefined);
  const body = JSON.stringify(HELLO);
  const request = (headers: readonly string[], content: string) =>
    [
      'POST /v1/audio/speech HTTP/1.1',
      'Host: shim',
      `Authorization: ${account.headers.authorization}`,
      'Content-Type: application/json',
      ...headers,
      '',
      content,
    ].join('\r\n');

  /** Statuses of everything that is answered until the server closes the connection. */
  async function exchange(bytes: string): Promise<{ statuses: number[]; text: string }> {
    const socket = open();
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.write(bytes, 'latin1');
    await new Promise((resolve) => socket.once('close', resolve));
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) =>
      Number(status),
    );
    return { statuses, text };
  }

  const CASES: readonly (readonly [string, () => string])[] = [
    [
      'a Content-Length and a Transfer-Encoding',
      () => request(['Content-Length: 4', 'Transfer-Encoding: chunked'], `0\r\n\r\n${body}`),
    ],
    [
      'two different Content-Lengths',
      () => request([`Content-Length: ${body.length}`, 'Content-Length: 5'], body),
    ],
    ['a negative Content-Length', () => request(['Content-Length: -5'], body)],
    ['a Content-Length that is no number', () => request(['Content-Length: 0x10'], body)],
    ['a Content-Length with a plus', () => request(['Content-Length: +5'], body)],
    [
      'a Content-Length beyond all numbers',
      () => request(['Content-Length: 99999999999999999999'], body),
    ],
    ['an unknown Transfer-Encoding', () => request(['Transfer-Encoding: gzip'], body)],
    ['chunked not last', () => request(['Transfer-Encoding: chunked, gzip'], body)],
    [
      'a chunk size that is no number',
      () => request(['Transfer-Encoding: chunked'], `zz\r\n${body}\r\n0\r\n\r\n`),
    ],
    ['a space before the colon', () => request([`Content-Length : ${body.length}`], body)],
    [
      'a folded header',
      () => request(['X-A: 1', ' folded', `Content-Length: ${body.length}`], body),
    ],
    ['a NUL in a header', () => request(['X-A: a\0b', `Content-Length: ${body.length}`], body)],
    [
      '20 KB of headers',
      () => request([`X-A: ${'a'.repeat(20_000)}`, `Content-Length: ${body.length}`], body),
    ],
    ['no HTTP at all', () => 'hello there\r\n\r\n'],
    ['a TLS greeting', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ];

  it.each(CASES)('%s is refused and the connection closed', async (_what, bytes) => {
    const before = await gateway.balance(account.accountId);
    const { statuses, text } = await exchange(bytes());
    expect(statuses).toHaveLength(1);
    expect(statuses[0]).toBeGreaterThanOrEqual(400);
    expect(statuses[0]).toBeLessThan(500);
    expect(text).toMatch(/\{"error":\{"message":/);
    expect(await gateway.balance(account.accountId)).toEqual(before);
  });

  it('no Host is 400', async () => {
    const { statuses } = await exchange('GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(statuses).toEqual([400]);
  });

  it('a Content-Length that is too small never makes a second request of the rest', async () => {
    const smuggled = request([`Content-Length: ${body.length}`], body);
    const { statuses } = await exchange(request(['Content-Length: 2'], `{}${smuggled}x x\r\n\r\n`));
    expect(statuses[0]).toBe(400);
    expect(statuses.slice(1).every((status) => status === 200 || status === 400)).toBe(true);
    const short = await exchange(request(['Content-Length: 5', 'Connection: close'], body));
    expect(short.statuses).toEqual([400]);
  });

  it('a body that is cut off costs nothing', async () => {
    const { accountId, headers } = await gateway.account(600n);
    const abortResponse = (lines: readonly string[], content: string) =>
      request(lines, content).replace(account.headers.authorization, headers.authorization);
    const socket = open();
    socket.write(abortResponse([`Content-Length: ${body.length + 10}`], body));
    await sleep(50);
    socket.destroy();
    const chunked = open();
    chunked.write(abortResponse(['Transfer-Encoding: chunked'], `5\r\n{"mod`));
    await sleep(50);
    chunked.destroy();
    expect((await send(`${gateway.url}/health/live`)).status).toBe(200);
    expect(await gateway.balance(accountId)).toEqual({ available: 600n, held: 0n, entries: 1 });
  });

  it('a body that comes byte by byte is served, and so is everybody else meanwhile', async () => {
    const socket = open();
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
    socket.write(request([`Content-Length: ${body.length}`, 'Connection: close'], ''));
    for (const byte of body) {
      socket.write(byte);
      await sleep(2);
      if (byte === ',') expect((await send(`${gateway.url}/v1/account`, account)).status).toBe(200);
    }
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
  });

  it('Expect: 100-continue is answered', async () => {
    const socket = open();
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
    socket.write(
      request([`Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close'], ''),
    );
    while (!answer.startsWith('HTTP/1.1 100')) await sleep(5);
    socket.write(body);
    await once(socket, 'close');
    expect(answer).toMatch(/HTTP\/1\.1 200/);
  });
});

it('hostile bodies by the dozen leave every other call answered', async () => {
  const attack = Promise.all(
    HOSTILE_JSON.flatMap(([, text]) => [text, text]).map((text) =>
      postJson(url(), account.headers, text),
    ),
  );
  for (let served = 0; served < 20; served++) {
    expect((await postJson(url(), account.headers, HELLO)).status).toBe(200);
  }
  for (const answer of await attack) expect(errorOf(answer).code).toBe('invalid_request');
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { SystemClock } from '../../common/time/clock.js';
import { readBounded } from './response-body.js';
import { HttpTransport } from './http-transport.js';
import { ProviderHttp } from './provider-http.js';

const MEGABYTE = 1024 * 1024;

let stub: StubUpstream;
let transport: HttpTransport;
let http: ProviderHttp;

beforeAll(async () => {
  stub = await StubUpstream.start();
  transport = new HttpTransport(10_000);
  const clock = new SystemClock();
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'k', transport, clock };
  http = new ProviderHttp(access, {
    headers: {},
    ownErrors: (_status, body) => ({ code: (body as { code?: string } | null)?.code ?? 'unread' }),
  });
});
afterAll(async () => {
  await transport.close();
  await stub.stop();
});

const request = () =>
  ({
    method: 'GET',
    path: '/',
    timeout: 'poll',
    context: { signal: new AbortController().signal },
  }) as const;
const says = (status: number, encoding: string, body: Buffer): void => {
  stub.reply = (response) =>
    response.writeHead(status, encoding === '' ? {} : { 'content-encoding': encoding }).end(body);
};
const json = (limitBytes = 10_000) => http.requestJson(request(), limitBytes, (value) => value);

describe('a response in an encoding that was not requested', () => {
  const text = Buffer.from(JSON.stringify({ say: 'hé'.repeat(100) }));

  it.each([
    ['x-gzip', gzipSync(text)],
    ['identity, GZIP', gzipSync(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
    ['deflate', deflateSync(text)],
  ])('is read: %s', async (encoding, body) => {
    says(200, encoding, body);
    expect(await json()).toEqual(JSON.parse(text.toString()));
  });

  it('is read where it comes byte by byte', async () => {
    stub.reply = async (response) => {
      response.writeHead(200, { 'content-encoding': 'deflate' });
      for (const byte of deflateSync(text)) {
        response.write(Buffer.of(byte));
        await sleep(1);
      }
      response.end();
    };
    expect(await json()).toEqual(JSON.parse(text.toString()));
  });

  it.each(['gzip', 'br', 'deflate'])('is a failure where it is no %s', async (encoding) => {
    says(200, encoding, Buffer.from('{"plain":"and no encoding at all"}'));
    await expect(json()).rejects.toMatchObject({
      kind: 'http_error',
      upstreamStatus: 200,
      sent: true,
    });
  });

  it('is empty where it has no bytes', async () => {
    says(200, 'gzip', Buffer.alloc(0));
    const { body } = await http.request(request());
    expect(await readBounded(body, 10)).toHaveLength(0);
  });

  it('may have as many bytes as a plain one, once it is decoded', async () => {
    const long = Buffer.from(JSON.stringify({ say: 'x'.repeat(5_000) }));
    says(200, 'gzip', gzipSync(long));
    expect(await json(long.length)).toEqual(JSON.parse(long.toString()));
    await expect(json(long.length - 1)).rejects.toMatchObject({ upstreamCode: 'bad_json' });
  });

  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  it.each([
    ['gzip', gzipSync(Buffer.alloc(32 * MEGABYTE))],
    ['br', brotliCompressSync(Buffer.alloc(32 * MEGABYTE), quick)],
  ])('is a failure where it is a bomb: %s', async (encoding, bomb) => {
    says(200, encoding, bomb);
    const { body } = await http.request(request());
    await expect(readBounded(body, 1024 * MEGABYTE)).rejects.toMatchObject({
      kind: 'http_error',
      upstreamCode: 'bad_encoding',
    });
  });

  it('explains the rejection in its error', async () => {
    says(400, 'gzip', gzipSync(Buffer.from('\uFEFF{"code":"too_loud"}')));
    await expect(json()).rejects.toMatchObject({ upstreamStatus: 400, upstreamCode: 'too_loud' });
  });

  it('is passed on as it arrives', async () => {
    let answer: ServerResponse | undefined;
    const gzip = createGzip();
    stub.reply = (response) => {
      answer = response.writeHead(200, { 'content-encoding': 'gzip' });
      gzip.pipe(response);
      gzip.write('data: first\n\n');
      gzip.flush();
    };
    const { body } = await http.request(request());
    const [first] = (await once(body, 'data')) as [Buffer];
    expect(first.toString()).toBe('data: first\n\n');
    expect(answer?.writableEnded).toBe(false);
    gzip.end('data: last\n\n');
    const [last] = (await once(body, 'data')) as [Buffer];
    expect(last.toString()).toBe('data: last\n\n');
    await once(body, 'end');
  });

  it('continues to the last byte after its reader was slow', async () => {
    const bytes = randomBytes(4 * MEGABYTE);
    says(200, 'gzip', gzipSync(bytes));
    const { body } = await http.request(request());
    const pieces: Buffer[] = [];
    for await (const piece of body) {
      pieces.push(piece as Buffer);
      if (pieces.length % 50 === 0) await sleep(5);
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });

  it('closes its connection when its reader is destroyed', async () => {
    stub.aborted = 0;
    stub.reply = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.write(gzipSync(randomBytes(MEGABYTE)).subarray(0, 500_000));
    };
    const { body } = await http.request(request());
    await once(body, 'data');
    body.destroy();
    await stub.untilAborted();
    expect(stub.aborted).toBe(1);
  });
});

describe('a byte order mark before JSON', () => {
  it('is skipped', async () => {
    says(200, '', Buffer.from('\uFEFF{"a":1}'));
    expect(await json()).toEqual({ a: 1 });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { SystemClock } from '../../common/time/clock.js';
import { readBounded } from './response-body.js';
import { HttpTransport } from './http-transport.js';
import { ProviderHttp } from './provider-http.js';

const SOUND = Buffer.alloc(4_000, 7);

let stub: StubUpstream;
let transport: HttpTransport;
let http: ProviderHttp;

beforeAll(async () => {
  stub = await StubUpstream.start();
  transport = new HttpTransport(5_000);
  const clock = new SystemClock();
  const access = { id: 'acme', baseUrl: stub.url, apiKey: 'k', transport, clock };
  http = new ProviderHttp(access, { headers: {} });
});
afterAll(async () => {
  await transport.close();
  await stub.stop();
});

async function bytesOf(status: number, headers: Record<string, string>, body: Buffer) {
  stub.reply = (response) => response.writeHead(status, headers).end(body);
  const signal = new AbortController().signal;
  const answer = await http.request({
    method: 'GET',
    path: '/',
    timeout: 'poll',
    context: { signal },
  });
  return readBounded(answer.body, 10_000);
}

describe('a response that does not contain the requested bytes', () => {
  it.each(['zstd', 'compress', 'gzip, gzip, gzip', 'gzip;q=1'])(
    'is refused in an encoding that cannot be read: %s',
    async (encoding) => {
      const sent = bytesOf(200, { 'content-encoding': encoding }, gzipSync(SOUND));
      await expect(sent).rejects.toMatchObject({
        kind: 'http_error',
        upstreamStatus: 200,
        upstreamCode: 'not_whole',
      });
    },
  );

  it('is refused where it is a part of them', async () => {
    const head = { 'content-range': 'bytes 0-3999/8000' };
    await expect(bytesOf(206, head, SOUND)).rejects.toMatchObject({ upstreamCode: 'not_whole' });
  });

  it.each(['identity', 'none', ''])('is taken where it only says so: %j', async (encoding) => {
    expect(await bytesOf(200, { 'content-encoding': encoding }, SOUND)).toEqual(SOUND);
  });
});

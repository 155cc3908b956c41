import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import { TEN_SECONDS, TRANSCRIPTION } from '../../support/audio-operations.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { until } from '../../support/until.js';
import { expectRefused } from '../../support/refusal.js';

const SIZE = TEN_SECONDS.length;
const LARGE_BYTES = 50_000_000;
const UNKNOWN = `${'0'.repeat(32)}.wav`;

let gateway: TestGateway;
let account: TestAccount;
/** Ten seconds of a tone. */
let url: string;

/** A running sandbox always has this file. */
const keep = (bytes: Buffer, at = gateway): Promise<string> =>
  at.sandbox!.putMedia(bytes, 'audio/wav', 'wav');
const read = (headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  send(url, { method, headers });
const transcribe = (audio_url: string, at = gateway, by = account): Promise<Answer> =>
  postJson(at.url + TRANSCRIPTION.path, by.headers, { ...TRANSCRIPTION.body, audio_url });

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
  url = await keep(TEN_SECONDS);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('a file of the sandbox on the port of the gateway', () => {
  it('has a URL below the gateway, in the answers of the provider too', async () => {
    const base = `${gateway.url}/sandbox/media/`;
    expect(url.startsWith(base)).toBe(true);
    const { url: root, apiKey } = gateway.sandbox!;
    const answer = await postJson(
      `${root}/openai/v1/images/generations`,
      { authorization: `Bearer ${apiKey}` },
      { prompt: 'A tree [[sandbox:url]]' },
    );
    const { data } = answer.json as { data: { url: string }[] };
    expect(data[0]?.url.startsWith(base)).toBe(true);
    const picture = await send(data[0]!.url);
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(picture.bytes.toString('latin1', 1, 4)).toBe('PNG');
  });

  it('is read whole by anyone, with its length and type', async () => {
    const answer = await read();
    expect(answer.status).toBe(200);
    expect(answer.bytes.equals(TEN_SECONDS)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': `${SIZE}`,
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[\w.]+"$/),
      'cross-origin-resource-policy': 'cross-origin',
    });
  });

  it.each([
    ['bytes=0-3', 0, 4],
    ['bytes=1000-1999', 1_000, 2_000],
    ['bytes=-44', SIZE - 44, SIZE],
    [`bytes=${SIZE - 1}-`, SIZE - 1, SIZE],
  ])('is read in part for %s', async (range, first, end) => {
    const answer = await read({ range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${first}-${end - 1}/${SIZE}`);
    expect(answer.headers.get('content-length')).toBe(`${end - first}`);
    expect(answer.bytes.equals(TEN_SECONDS.subarray(first, end))).toBe(true);
  });

  it.each(['bytes=0-1,4-5', 'lines=1-2'])('is read whole for %s', async (range) => {
    const answer = await read({ range });
    expect([answer.status, answer.bytes.length]).toEqual([200, SIZE]);
  });

  it('is read in part only while it is the same file', async () => {
    const etag = (await read()).headers.get('etag') ?? '';
    expect((await read({ range: 'bytes=0-3', 'if-range': etag })).status).toBe(206);
    expect((await read({ range: 'bytes=0-3', 'if-range': '"other"' })).status).toBe(200);
  });

  it('answers a range outside of it with 416 and its length', async () => {
    const answer = await read({ range: `bytes=${SIZE}-` });
    expect([answer.status, errorOf(answer).code]).toEqual([416, 'range_not_satisfiable']);
    expect(answer.headers.get('content-range')).toBe(`bytes */${SIZE}`);
  });

  it('answers HEAD with its head alone, whatever the range', async () => {
    const answer = await read({ range: 'bytes=0-3' }, 'HEAD');
    expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
    expect(answer.headers.get('content-length')).toBe(`${SIZE}`);
    expect(answer.headers.get('content-type')).toBe('audio/wav');
  });

  it('is only read', async () => {
    const answer = await read({}, 'POST');
    expect([answer.status, errorOf(answer).code]).toEqual([405, 'method_not_allowed']);
  });

  it.each([
    UNKNOWN,
    '',
    'a',
    '.wav',
    'a.wav.',
    `${'a'.repeat(65)}.wav`,
    'a/b.wav',
    '..%2f__sandbox%2fstats',
    '%2e%2e%2f__sandbox%2fstats.json',
    '..%5c..%5cstats.wav',
    'a.wav%00',
    'a%0d%0ab.wav',
    'a%3fb.wav',
  ])('is not found under the name %j', async (name) => {
    const answer = await send(`${gateway.url}/sandbox/media/${name}`);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
    expect((await send(`${gateway.url}/sandbox/media/${name}`, { method: 'HEAD' })).status).toBe(
      404,
    );
  });

  it('is not read further when its client disconnects', async () => {
    const large = await keep(Buffer.alloc(LARGE_BYTES));
    const leaving = new AbortController();
    const answer = await fetch(large, { signal: leaving.signal });
    await answer.body!.getReader().read();
    expect((await gateway.sandbox!.stats()).inFlight).toBe(1);
    leaving.abort();
    await until(async () => (await gateway.sandbox!.stats()).inFlight === 0);
    expect(await gateway.sandbox!.requests(1)).toMatchObject([
      { operation: 'media', isAborted: true },
    ]);
  });
});

describe('a URL of the sandbox as input', () => {
  it('is accepted without EGRESS_ALLOW', async () => {
    expect(gateway.config.egressAllow).toEqual([]);
    const before = (await gateway.balance(account.accountId)).available;
    expect((await transcribe(url)).status).toBe(200);
    const after = (await gateway.balance(account.accountId)).available;
    expect(before - after).toBe(TRANSCRIPTION.price);
  });

  it('is accepted with a query and a fragment, which mean nothing', async () => {
    expect((await transcribe(`${url}?download=1#t=3`)).status).toBe(200);
  });

  it('fails as a download when there is no such file', async () => {
    const answer = await transcribe(`${gateway.url}/sandbox/media/${UNKNOWN}`);
    expect(errorOf(answer)).toMatchObject({ code: 'audio_download_failed', param: 'audio_url' });
  });

  it('opens nothing else on this host', async () => {
    const { pathname, port } = new URL(url);
    const sandboxPort = new URL(gateway.sandbox!.mediaUrl).port;
    const name = pathname.split('/').at(-1) ?? '';
    for (const wrong of [
      `${gateway.url}/metrics`,
      `${gateway.url}/${name}`,
      `${gateway.url}/media/${name}`,
      `${gateway.url}/sandbox/media`,
      `${gateway.url}/sandbox/media/`,
      `${gateway.url}/sandbox/media/x/${name}`,
      `${gateway.url}/sandbox/media/../../metrics`,
      `${gateway.url}/sandbox/media/%2e%2e/%2e%2e/health/live`,
      `${gateway.url}/sandbox/media/..%2f..%2fmetrics`,
      `${gateway.url}/sandbox/mediator/${name}`,
      `${gateway.url}/SANDBOX/media/${name}`,
      `https://127.0.0.1:${port}${pathname}`,
      `http://localhost:${port}${pathname}`,
      `http://[::1]:${port}${pathname}`,
      `http://127.0.0.2:${port}${pathname}`,
      `http://127.0.0.1${pathname}`,
      `http://user@127.0.0.1:${port}${pathname}`,
      `http://127.0.0.1:${sandboxPort}${pathname}`,
      `http://127.0.0.1:${sandboxPort}/media/${name}`,
      `http://127.0.0.1:${sandboxPort}/__sandbox/requests`,
    ]) {
      await expectRefused(gateway, account.accountId, () => transcribe(wrong), {
        status: 400,
        code: 'invalid_request',
        param: 'audio_url',
      });
    }
  });
});

describe('the address of the files', () => {
  let other: TestGateway | undefined;

  async function start(settings: NodeJS.ProcessEnv): Promise<string> {
    await other?.stop();
    other = await startTestGateway(settings);
    return keep(TEN_SECONDS, other);
  }
  afterAll(() => other?.stop());

  it('uses PUBLIC_URL, even if the gateway cannot reach it', async () => {
    const published = await start({ PUBLIC_URL: 'https://shim.example/gateway/' });
    const base = 'https://shim.example/gateway/sandbox/media/';
    expect(published.startsWith(base)).toBe(true);
    const local = `${other!.url}/sandbox/media/${published.slice(base.length)}`;
    expect((await send(local)).bytes.equals(TEN_SECONDS)).toBe(true);
    const buyer = await other!.account();
    expect((await transcribe(published, other, buyer)).status).toBe(200);
    expect(errorOf(await transcribe(local, other, buyer)).code).toBe('invalid_request');
  });

  it.each(['0.0.0.0', '::'])('is 127.0.0.1 where the gateway listens on %s', async (HOST) => {
    const published = await start({ HOST });
    expect(published).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/sandbox\/media\//);
    expect((await send(published)).bytes.equals(TEN_SECONDS)).toBe(true);
  });

  it('is the name of the host where HOST is one', async () => {
    const published = await start({ HOST: 'localhost' });
    expect(published).toMatch(/^http:\/\/localhost:[1-9]\d*\/sandbox\/media\//);
    expect((await transcribe(published, other, await other!.account())).status).toBe(200);
  });
});

describe('a gateway without a sandbox', () => {
  let harness: AudioHarness;

  beforeAll(async () => {
    harness = await AudioHarness.open();
  });
  afterAll(() => harness.close());

  it('has no files and accepts no such URL', async () => {
    expect(harness.gateway.sandbox).toBeUndefined();
    const own = `${harness.gateway.url}/sandbox/media/${UNKNOWN}`;
    const answer = await send(own);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
    await harness.refusesField(TRANSCRIPTION, 'audio_url', own);
  });
});

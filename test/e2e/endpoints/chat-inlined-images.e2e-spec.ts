import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventBytes, said } from '../../contract/gemini-wires.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const MEBIBYTE = 1024 * 1024;
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500, 7)]);
const GIF = Buffer.from('GIF89a-and-some-more-bytes');

let vendor: StubUpstream;
let web: StubUpstream;
let gateway: TestGateway;
let account: Awaited<ReturnType<TestGateway['account']>>;

beforeAll(async () => {
  vendor = await StubUpstream.start();
  web = await StubUpstream.start();
  const model = {
    id: 'gen-eyes',
    operation: 'chat',
    routes: [{ provider: 'gemini', upstream_model: 'gemini-eyes' }],
    price: {
      unit: 'token',
      input_micro_usd_per_million: 1_000_000,
      output_micro_usd_per_million: 1_000_000,
    },
    limits: { max_output_tokens: 1_000 },
  };
  const file = join(mkdtempSync(join(tmpdir(), 'inlined-')), 'catalog.json');
  writeFileSync(file, JSON.stringify({ models: [model] }));
  gateway = await startTestGateway({
    CATALOG_FILE: file,
    GEMINI_API_KEY: 'stub-provider-key',
    GEMINI_BASE_URL: `${vendor.url}/v1beta`,
    EGRESS_ALLOW: new URL(web.url).host,
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([vendor.stop(), web.stop()]);
});
beforeEach(() => {
  vendor.seen.length = 0;
  web.seen.length = 0;
  const answer = said({
    parts: [{ text: 'A cat.' }],
    finishReason: 'STOP',
    usage: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
  });
  vendor.reply = (response, { url }) =>
    response.end(url.includes('stream') ? eventBytes([answer]) : JSON.stringify(answer));
});

const image = (url: string) => ({ type: 'image_url', image_url: { url } });
function ask(paths: readonly string[], fields: object = {}) {
  const urls = paths.map((path) => (path.startsWith('/') ? web.url + path : path));
  const content = [{ type: 'text', text: 'What is this?' }, ...urls.map(image)];
  return postJson(`${gateway.url}/v1/chat/completions`, account.headers, {
    model: 'gen-eyes',
    messages: [{ role: 'user', content }],
    ...fields,
  });
}
const serve = (bytesOf: (path: string) => Buffer) => {
  web.reply = (response, { url }) => response.end(bytesOf(url));
};
const sentParts = () =>
  (JSON.parse(vendor.only.body.toString()) as { contents: { parts: unknown[] }[] }).contents[0]!
    .parts;
const data = (mimeType: string, bytes: Buffer) => ({
  inlineData: { mimeType, data: bytes.toString('base64') },
});

describe('images on the web for a vendor that takes bytes only', () => {
  it.each([false, true])(
    'are fetched once each, and sent with the type of their bytes, stream %s',
    async (stream) => {
      serve((path) => (path === '/b' ? GIF : PNG));
      const uri = `data:image/jpeg;base64,${GIF.toString('base64')}`;
      const answer = await ask(['/a', '/b', '/a', uri], { stream });
      expect(answer.status).toBe(200);
      expect(sentParts()).toEqual([
        { text: 'What is this?' },
        data('image/png', PNG),
        data('image/gif', GIF),
        data('image/png', PNG),
        data('image/jpeg', GIF),
      ]);
      expect(web.seen.map(({ url }) => url).sort()).toEqual(['/a', '/b']);
      expect(JSON.stringify(web.seen)).not.toContain('stub-provider-key');
    },
  );

  it.each<[string, (path: string) => Buffer, readonly string[], number]>([
    ['is no image', () => Buffer.from('<html>hello</html>'), ['/a'], 1],
    ['is empty', () => Buffer.alloc(0), ['/a'], 1],
    [
      'is too large with the others',
      () => Buffer.concat([PNG, Buffer.alloc(11 * MEBIBYTE)]),
      ['/a', '/b'],
      0,
    ],
  ])(
    'are refused by their path before anything is held, where one %s',
    async (_why, bytes, paths, place) => {
      serve(bytes);
      const before = await gateway.balance(account.accountId);
      const answer = await ask(paths);
      expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_request']);
      if (place > 0) {
        expect(errorOf(answer).param).toBe(`messages.0.content.${place}.image_url.url`);
      }
      expect(errorOf(answer).message).toMatch(/^messages\.0\.content\.\d\.image_url\.url /);
      expect(vendor.seen).toEqual([]);
      expect(await gateway.balance(account.accountId)).toEqual(before);
    },
  );

  it('are refused where their server answers with an error', async () => {
    web.reply = (response) => response.writeHead(404).end('gone');
    expect(errorOf(await ask(['/a']))).toMatchObject({
      code: 'invalid_request',
      param: 'messages.0.content.1.image_url.url',
      message: 'messages.0.content.1.image_url.url could not be downloaded: it answered 404.',
    });
  });

  it('are refused where they are more than a hundred', async () => {
    serve(() => PNG);
    const paths = Array.from({ length: 101 }, (_one, index) => `/${index}`);
    expect(errorOf(await ask(paths))).toMatchObject({
      code: 'invalid_request',
      param: 'messages.0.content.101.image_url.url',
    });
    expect(web.seen).toEqual([]);
  });
});

describe('images of responses in the background', () => {
  it('have a limit over all that run, beyond which a response fails and is free', async () => {
    const heavy = Buffer.concat([PNG, Buffer.alloc(18 * MEBIBYTE)]);
    serve(() => heavy);
    const answer = vendor.reply;
    const waiting: (() => void)[] = [];
    vendor.reply = (...call) => {
      waiting.push(() => void answer(...call));
    };
    const content = [{ type: 'input_image', image_url: `${web.url}/heavy.png` }];
    const body = { model: 'gen-eyes', background: true, input: [{ role: 'user', content }] };
    const made = await Promise.all(
      [1, 2, 3, 4].map(() => postJson(`${gateway.url}/v1/responses`, account.headers, body)),
    );
    const read = () =>
      Promise.all(
        made.map(async ({ json }) => {
          const { id } = json as { id: string };
          const url = `${gateway.url}/v1/responses/${id}`;
          return (await send(url, { headers: account.headers })).json as Made;
        }),
      );
    await until(async () => (await read()).some(({ status }) => status === 'failed'));
    await until(() => waiting.length === 3);
    for (const go of waiting) go();
    await until(async () => (await read()).every(({ status }) => status !== 'in_progress'));
    const ended = await read();
    const failed = ended.filter(({ status }) => status === 'failed');
    expect(ended.filter(({ status }) => status === 'completed')).toHaveLength(3);
    expect(failed).toHaveLength(1);
    expect(failed[0]?.error?.message).toMatch(/67108864 bytes of images/);
    expect(await gateway.balance(account.accountId)).toMatchObject({ held: 0n });
  });
});

interface Made {
  readonly status: string;
  readonly error: { readonly message: string } | null;
}

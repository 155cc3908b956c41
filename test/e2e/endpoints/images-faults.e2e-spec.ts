import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { StubUpstream } from '../../support/stub-upstream.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf } from '../../support/http-answer.js';
import {
  buyImage,
  IMAGE_CREDIT,
  DRAW,
  draw,
  IMAGE_PATH,
  imageOf,
} from '../../support/paid-images.js';

let gateway: TestGateway;
let headers: Record<string, string>;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ headers } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('an answer without an image', () => {
  // More failures than successes would close the route.
  beforeEach(async () => {
    for (let call = 0; call < 2; call++) imageOf(await draw(gateway, headers));
  });

  it.each([
    ['no-data', 502, 'provider_http_error'],
    ['status=500', 502, 'provider_http_error'],
    ['status=400', 400, 'provider_rejected_request'],
    ['status=429', 429, 'provider_rate_limited'],
    ['reset', 502, 'provider_http_error'],
    ['json', 502, 'provider_http_error'],
    ['html', 502, 'provider_http_error'],
    ['break-body', 502, 'provider_http_error'],
  ])('is not charged after %s (IMG-04, G-32)', async (word, status, code) => {
    const { answer, charged } = await buyImage(gateway, { prompt: `A tree [[sandbox:${word}]]` });
    expect({ status: answer.status, code: errorOf(answer).code }).toEqual({ status, code });
    expect(charged).toBe(0n);
  });

  it('lets the provider finish when the client disconnects, and charges the image', async () => {
    const account = await gateway.account(IMAGE_CREDIT);
    const leaving = new AbortController();
    const call = fetch(gateway.url + IMAGE_PATH, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', ...account.headers },
      body: JSON.stringify({ ...DRAW, prompt: 'A tree [[sandbox:delay=200]]' }),
    });
    while ((await gateway.balance(account.accountId)).held === 0n) await sleep(5);
    leaving.abort();
    await expect(call).rejects.toThrow();
    while ((await gateway.balance(account.accountId)).held > 0n) await sleep(10);
    expect((await gateway.balance(account.accountId)).available).toBe(IMAGE_CREDIT - 10_000n);
  });
});

describe('what a provider may answer', () => {
  /** Its base64 ends in padding, and its last bytes are other characters in the alphabet of URLs. */
  const PNG = Buffer.from('89504e470d0a1a0a0000000d494844ff', 'hex');
  const BASE64 = PNG.toString('base64');
  /** Its base64 has no padding. */
  const WHOLE = PNG.subarray(0, 15);
  let upstream: StubUpstream;
  let strict: TestGateway;

  beforeAll(async () => {
    upstream = await StubUpstream.start();
    strict = await startTestGateway({
      OPENAI_API_KEY: 'key',
      OPENAI_BASE_URL: upstream.url,
      SANDBOX: 'off',
    });
  });
  afterAll(async () => {
    await strict.expectCleanBooks();
    await strict.stop();
    await upstream.stop();
  });

  async function answerTo(item: object, body: object = { data: [item] }) {
    const account = await strict.account(IMAGE_CREDIT);
    upstream.reply = (response) => response.end(JSON.stringify(body));
    const answer = await draw(strict, account.headers);
    return { answer, spent: IMAGE_CREDIT - (await strict.balance(account.accountId)).available };
  }

  it('hands on ten megabytes of base64', async () => {
    const image = Buffer.concat([PNG, Buffer.alloc(7_500_000, 7)]);
    const { answer, spent } = await answerTo({ b64_json: image.toString('base64') });
    expect(imageOf(answer).equals(image)).toBe(true);
    expect(spent).toBe(10_000n);
  });

  it.each([
    ['white space', `${BASE64.slice(0, 4)}\r\n${BASE64.slice(4)}\n`],
    ['one line end', `${WHOLE.toString('base64')}\n`, WHOLE],
    ['the alphabet of URLs', PNG.toString('base64url')],
    ['no padding', BASE64.replaceAll('=', '')],
  ])('hands on base64 as clients read it, where it has %s', async (_what, base64, image = PNG) => {
    const { answer } = await answerTo({ b64_json: base64 });
    const { data } = answer.json as { data: object[] };
    expect(data).toEqual([{ b64_json: image.toString('base64') }]);
  });

  const URI = `data:image/png;base64,${BASE64}`;

  it.each<[string, object]>([
    ['b64_json with the beginning of a data URI', { data: [{ b64_json: URI }] }],
    [
      'b64_json in capitals of a data URI',
      { data: [{ b64_json: `DATA:image/png;BASE64,${BASE64}` }] },
    ],
    ['a data URI as url', { data: [{ url: URI }] }],
    ['a data URI with parameters', { data: [{ url: URI.replace(';', ';charset=utf-8;') }] }],
    ['a data URI without a type', { data: [{ url: `data:;base64,${BASE64}` }] }],
    ['a data URI with escaped signs', { data: [{ url: URI.replaceAll('=', '%3D') }] }],
    [
      'a data URI in lines and in the alphabet of URLs',
      { data: [{ url: `data:image/png;base64,\n${PNG.toString('base64url')}\n` }] },
    ],
    ['a data URI as the item itself', { data: [URI] }],
    ['an image_url with a data URI', { data: [{ image_url: { url: URI } }] }],
    ['a list named images', { images: [{ url: URI }] }],
    ['an empty b64_json beside the url', { data: [{ b64_json: '', url: URI }] }],
    [
      'an empty item before the image',
      { data: [{ b64_json: null, url: null }, { b64_json: BASE64 }] },
    ],
  ])('reads %s', async (_what, body) => {
    const { answer, spent } = await answerTo({}, body);
    expect((answer.json as { data: object[] }).data).toEqual([{ b64_json: BASE64 }]);
    expect(spent).toBe(10_000n);
  });

  it.each<[string, () => object]>([
    ['a data URI of text', () => ({ url: 'data:text/plain,sorry' })],
    ['a data URI without its comma', () => ({ b64_json: 'data:image/png;base64' })],
    ['a data URI that cannot be decoded', () => ({ url: `${URI}%E0%A4` })],
    ['base64 that is damaged after its beginning', () => ({ b64_json: `${BASE64}!!!!${BASE64}` })],
    ['two images in one base64', () => ({ b64_json: `${BASE64}\n${BASE64}` })],
    ['text in place of an image', () => ({ b64_json: Buffer.from('sorry').toString('base64') })],
    ['a URL on a private address', () => ({ url: `${upstream.url}/image.png` })],
    ['a URL of a file', () => ({ url: 'file:///etc/passwd' })],
    ['a URL of the metadata service', () => ({ url: 'http://169.254.169.254/latest' })],
  ])('takes %s for a failure without fetching it (IMG-04)', async (_what, item) => {
    const before = upstream.seen.length;
    const { answer, spent } = await answerTo(item());
    expect({ status: answer.status, code: errorOf(answer).code }).toEqual({
      status: 502,
      code: 'provider_http_error',
    });
    expect(spent).toBe(0n);
    expect(upstream.seen).toHaveLength(before + 1);
  });
});

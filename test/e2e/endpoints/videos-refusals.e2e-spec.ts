import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, send } from '../../support/http-answer.js';
import { expectRefused, type Refusal } from '../../support/refusal.js';
import { VIDEO, VideoHarness } from '../../support/video-harness.js';

const OWN_URL = 'https://gateway.example';
const HOOK = 'https://93.184.216.34/hook';
const OMNI = { model: 'vid-omni', seconds: '10' };
const badField = (param: string): Refusal => ({ status: 400, code: 'invalid_request', param });

let gateway: TestGateway;
let harness: VideoHarness;

beforeAll(async () => {
  gateway = await startTestGateway({ PUBLIC_URL: OWN_URL });
  harness = await VideoHarness.open(gateway);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const refused = (fields: object, refusal: Refusal, by = harness) =>
  expectRefused(gateway, by.account.accountId, () => by.submit(fields), refusal);

/** Proves the error of a bad field of a video: type and code are the same, and the message names the field. */
async function refusesField(fields: object, param: string): Promise<void> {
  const { error } = await refused(fields, badField(param));
  expect(error.type).toBe('invalid_request');
  expect(error.message).toContain(param);
}

describe('POST /v1/videos refuses', () => {
  it.each([
    ['missing', undefined],
    ['a number', 7],
    ['empty', ''],
  ])('a model that is %s (VID-04, G-04)', async (_what, model) => {
    const { error } = await refused({ model }, badField('model'));
    expect(error.type).toBe('invalid_request');
  });

  it.each(['vid-nobody', 'VID-OMNI', '__proto__'])(
    'the unknown model %s (VID-05)',
    async (model) => {
      await refused({ model }, { status: 404, code: 'model_not_found', param: 'model' });
    },
  );

  it.each(['gen-5', 'gen-image-2', 'aud-v4', 'song-music'])(
    'a model of another endpoint, %s (VID-06)',
    async (model) => {
      await refused({ model }, { status: 400, code: 'model_not_found', param: 'model' });
    },
  );

  it.each([
    ['missing', undefined],
    ['blank', ' \n'],
    ['a number', 5],
    ['too long', 'x'.repeat(32_001)],
  ])('a prompt that is %s (VID-07, ERR-02, ERR-42)', async (_what, prompt) => {
    await refusesField({ prompt }, 'prompt');
  });

  it.each([
    ['missing', undefined],
    ['a number', 10],
    ['null', null],
  ])('seconds that are %s (VID-08, G-62)', async (_what, seconds) => {
    await refusesField({ seconds }, 'seconds');
  });

  it.each(['5', '11', '10.0', '010', ' 10'])(
    'vid-omni for %s seconds (VID-09, VID-18)',
    async (seconds) => {
      await refusesField({ ...OMNI, seconds }, 'seconds');
    },
  );

  it.each(['vid-motion', 'vid-cine'])('%s for 8 seconds (VID-10, VID-18)', async (model) => {
    await refusesField({ model, seconds: '8' }, 'seconds');
  });

  it.each([['1280*720'], ['0x720'], ['1280x'], ['1280X720'], ['123456x720'], [720], [[1280, 720]]])(
    'vid-omni of size %j (VID-11, G-62)',
    async (size) => {
      await refusesField({ ...OMNI, size }, 'size');
    },
  );

  it.each([['16x9'], ['21:9'], ['16:9 '], [1.78]])(
    'an aspect ratio of %j (VID-12)',
    async (aspect_ratio) => {
      await refusesField({ aspect_ratio }, 'aspect_ratio');
    },
  );

  it('a size with a model of the aspect family (VID-13)', async () => {
    await refusesField({ size: '1280x720' }, 'size');
    await refusesField({ size: '1280x720', aspect_ratio: '16:9' }, 'size');
  });

  it('an aspect ratio with vid-omni (VID-14, G-62)', async () => {
    await refusesField({ ...OMNI, aspect_ratio: '16:9' }, 'aspect_ratio');
  });

  it.each([
    ['a text', 'https://93.184.216.34/a.png'],
    ['an object', { url: 'https://93.184.216.34/a.png' }],
    ['empty', []],
    ['of numbers', [7]],
    ['of other schemes', ['ftp://93.184.216.34/a.png']],
    ['of data', ['data:image/png;base64,AAAA']],
    ['of private addresses', ['http://10.0.0.1/a.png']],
    ['of loopback in disguise', ['http://0x7f.1/a.png']],
    ['of localhost', ['http://localhost/a.png']],
    ['of metadata services', ['http://169.254.169.254/latest']],
    ['with one bad entry', ['https://93.184.216.34/a.png', 'http://[::1]/a.png']],
    ['too long', Array.from({ length: 5 }, (_, i) => `https://93.184.216.34/${i}.png`)],
  ])('image_urls that are %s (VID-16)', async (_what, image_urls) => {
    await refusesField({ image_urls }, 'image_urls');
  });

  it.each([
    ['of another scheme', 'ftp://93.184.216.34/a.png'],
    ['of a private host', 'https://localhost/a.png'],
  ])('an image %s, whose place the message names (VID-16)', async (_what, url) => {
    const image_urls = ['https://93.184.216.34/a.png', url];
    const { error } = await refused({ image_urls }, badField('image_urls'));
    expect(error.message).toMatch(/^image_urls\.1 must /);
  });

  it('a second image with vid-omni, which takes one (VID-16)', async () => {
    const image_urls = ['https://93.184.216.34/a.png', 'https://93.184.216.34/b.png'];
    await refusesField({ ...OMNI, image_urls }, 'image_urls');
  });

  it.each(['n', 'fps', 'user', 'foo', 'webhooks'])(
    'the unlisted field %s (VID-17, CONV-07)',
    async (field) => {
      await refusesField({ [field]: 24 }, field);
    },
  );

  it('a caller whose balance is below the price (VID-19, BILL-14)', async () => {
    const poor = await VideoHarness.open(gateway, 249_999n);
    await refused({}, { status: 402, code: 'insufficient_user_quota', param: null }, poor);
  });

  it('a key whose allowlist leaves the model out (AUTH-11)', async () => {
    const account = await gateway.account(1_000_000n, { allowedModels: ['vid-cine'] });
    const narrow = new VideoHarness(gateway, account);
    const refusal = { status: 403, code: 'api_key_model_not_allowed', param: 'model' };
    await refused({}, refusal, narrow);
  });

  it.each(['1234567', 'x'.repeat(129), 12_345_678])(
    'the webhook secret %j (VID-21, HOOK-28)',
    async (webhook_secret) => {
      await refusesField({ webhook: HOOK, webhook_secret }, 'webhook_secret');
    },
  );

  it('a webhook secret without a webhook (VID-21)', async () => {
    await refusesField({ webhook_secret: 'long enough' }, 'webhook_secret');
  });

  it.each([
    ['ftp://93.184.216.34/hook'],
    ['no url'],
    [7],
    ['http://127.0.0.1/hook'],
    ['http://10.1.2.3/hook'],
    ['http://192.168.0.1/hook'],
    ['http://172.16.0.1/hook'],
    ['http://169.254.169.254/'],
    ['http://[::1]/hook'],
    ['http://[fd00::1]/hook'],
    ['http://localhost/hook'],
    [`${OWN_URL}/hook`],
    ['http://gateway.example:8080/hook'],
  ])('the webhook %j (VID-22, HOOK-29, HOOK-30)', async (webhook) => {
    await refusesField({ webhook }, 'webhook');
  });

  it.each(['', 'x'.repeat(201)])('the idempotency key %j (IDEM-05)', async (key) => {
    const call = () => harness.submit({}, { 'idempotency-key': key });
    await expectRefused(gateway, harness.account.accountId, call, badField('Idempotency-Key'));
  });
});

describe('a form on POST /v1/videos', () => {
  const post = (...parts: readonly (readonly [string, string | Blob])[]): Promise<Answer> => {
    const body = new FormData();
    for (const [name, value] of [...Object.entries(VIDEO), ...parts]) body.append(name, value);
    const { headers } = harness.account;
    return send(`${gateway.url}/v1/videos`, { method: 'POST', headers, body });
  };
  const refusesForm = (call: () => Promise<Answer>, refusal: Refusal) =>
    expectRefused(gateway, harness.account.accountId, call, refusal);

  it('is refused with a file part, which it names (VID-34, G-61)', async () => {
    const picture = new Blob(['x'.repeat(2_000_000)], { type: 'image/png' });
    await refusesForm(() => post(['input_reference', picture]), badField('input_reference'));
  });

  it('is refused with a repeated or an unlisted text part', async () => {
    await refusesForm(() => post(['prompt', 'again']), badField('prompt'));
    await refusesForm(() => post(['fps', '24']), badField('fps'));
    await refusesForm(() => post(['__proto__', 'x']), badField('__proto__'));
  });

  it('is refused when it is broken', async () => {
    const headers = {
      ...harness.account.headers,
      'content-type': 'multipart/form-data; boundary=B',
    };
    const call = () =>
      send(`${gateway.url}/v1/videos`, { method: 'POST', headers, body: 'no form' });
    await refusesForm(call, { status: 400, code: 'invalid_multipart' });
  });

  it('is refused with a file part that has no name', async () => {
    const headers = {
      ...harness.account.headers,
      'content-type': 'multipart/form-data; boundary=B',
    };
    const part = 'Content-Disposition: form-data; filename="a.png"';
    const body = `--B\r\n${part}\r\n\r\nx\r\n--B--\r\n`;
    const call = () => send(`${gateway.url}/v1/videos`, { method: 'POST', headers, body });
    await refusesForm(call, { status: 400, code: 'invalid_multipart' });
  });
});

describe('a body of another type on POST /v1/videos', () => {
  it('is refused', async () => {
    const headers = { ...harness.account.headers, 'content-type': 'text/plain' };
    const body = JSON.stringify(VIDEO);
    const answer = await send(`${gateway.url}/v1/videos`, { method: 'POST', headers, body });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_content_type']);
  });
});

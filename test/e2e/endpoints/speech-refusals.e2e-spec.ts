import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestAccount } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { expectRefused, type Refusal } from '../../support/refusal.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** Sends `HELLO` with the fields (undefined leaves one out) and proves the refusal. */
const refused = (fields: object, refusal: Refusal) =>
  expectRefused(
    gateway,
    account.accountId,
    () =>
      postJson(`${gateway.url}/v1/audio/speech`, account.headers, {
        ...HELLO,
        ...fields,
      }),
    refusal,
  );
const badField = (param: string): Refusal => ({ status: 400, code: 'invalid_request', param });

describe('POST /v1/audio/speech refuses', () => {
  it.each<[string, unknown, string]>([
    ['foo', 'x', 'SPEECH-03'],
    ['instructions', 'Speak slowly.', 'SPEECH-72'],
    ['webhook', 'https://example.com/hook', 'AUD-53'],
    ['__proto__x', 1, 'SPEECH-03'],
    ['stream', true, 'SPEECH-03'],
    ['Input', 'Hello', 'SPEECH-03'],
  ])('the unlisted field %s = %j by name (%s)', async (field, value) => {
    await refused({ [field]: value }, badField(field));
  });

  it.each([
    ['left out', undefined],
    ['empty', ''],
    ['a number', 5],
    ['null', null],
    ['a list', ['aud-v4']],
  ])('a model that is %s (SPEECH-04)', async (_what, model) => {
    await refused({ model }, badField('model'));
  });

  it.each(['aud-v9', 'AUD-V4', 'eleven_v4', 'aud-v4 ', '__proto__', 'constructor'])(
    'the unknown model %s (SPEECH-05)',
    async (model) => {
      const code = 'model_not_available';
      await refused({ model }, { status: 404, code, param: 'model' });
    },
  );

  it.each(['aud-music-v2.5', 'aud-v4-dialogue', 'gen-5', 'gen-image-2', 'song-music', 'vid-omni'])(
    'a model of another endpoint, %s, telling SDKs not to retry (SPEECH-06, G-09)',
    async (model) => {
      const refusal = { status: 503, code: 'no_eligible_route', param: 'model' };
      const { answer } = await refused({ model }, refusal);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    },
  );

  it.each([
    ['left out', undefined],
    ['empty', ''],
    ['null', null],
  ])('an input that is %s (SPEECH-32, G-34)', async (_what, input) => {
    await refused({ input }, { status: 400, code: 'invalid_input', param: 'input' });
  });

  it.each([
    ['spaces', 'SPEECH-33', '   '],
    ['newlines', 'SPEECH-33', '\n\n'],
    ['a no-break space', 'SPEECH-33', '\u00a0'],
    ['an ideographic space', 'SPEECH-33', '\u3000'],
    ['U+0000', 'SPEECH-34', 'a\u0000b'],
    ['a bell', 'SPEECH-34', 'a\u0007b'],
    ['a tab', 'SPEECH-34', 'a\tb'],
    ['an escape', 'SPEECH-34', 'a\u001bb'],
    ['a delete', 'SPEECH-34', 'a\u007fb'],
    ['U+0085', 'SPEECH-34', 'a\u0085b'],
    ['U+009F', 'SPEECH-34', 'a\u009fb'],
    ['a lone high surrogate', 'SPEECH-36', 'a\ud800b'],
    ['a lone low surrogate', 'SPEECH-36', '\udc00'],
    ['a number', 'SPEECH-37', 5],
    ['a list', 'SPEECH-37', ['a']],
    ['an object', 'SPEECH-37', { text: 'a' }],
    ['a boolean', 'SPEECH-37', true],
  ])('an input of %s (%s)', async (_what, _row, input) => {
    await refused({ input }, badField('input'));
  });

  it.each([
    ['left out', undefined],
    ['empty', ''],
    ['a number', 5],
    ['null', null],
  ])('a voice that is %s (SPEECH-38)', async (_what, voice) => {
    await refused({ voice }, badField('voice'));
  });

  it.each(['alloy', '21m00Tcm4TlvDq8ikWAM', 'Adam ', 'Nobody'])(
    'the unknown voice "%s" (SPEECH-40)',
    async (voice) => {
      await refused({ voice }, badField('voice'));
    },
  );

  it.each(['flac', 'aac', 'MP3', 'ogg', 1, '', ['mp3']])(
    'the response_format %j (SPEECH-43)',
    async (format) => {
      await refused({ response_format: format }, badField('response_format'));
    },
  );

  it.each(['EN', 'e', 'engl', 'en-US', '', 5, 'en '])(
    'the language %j (SPEECH-49, G-40)',
    async (language) => {
      await refused({ language }, badField('language'));
    },
  );

  it.each(['true', 'AUTO', 1, true])(
    'the apply_text_normalization %j (SPEECH-70)',
    async (value) => {
      await refused({ apply_text_normalization: value }, badField('apply_text_normalization'));
    },
  );

  it.each(['true', 1, 'yes', 0, []])('the use_speaker_boost %j (SPEECH-61)', async (value) => {
    await refused({ use_speaker_boost: value }, badField('use_speaker_boost'));
  });

  it.each<[string, unknown, string]>([
    ['speed', 0.69, 'SPEECH-46'],
    ['speed', 1.21, 'SPEECH-46'],
    ['speed', '1', 'SPEECH-47'],
    ['speed', true, 'SPEECH-47'],
    ['speed', [1], 'SPEECH-47'],
    ['stability', -0.01, 'SPEECH-52'],
    ['stability', 1.01, 'SPEECH-52'],
    ['stability', '1', 'SPEECH-53'],
    ['stability', true, 'SPEECH-53'],
    ['stability', [1], 'SPEECH-53'],
    ['similarity_boost', -0.01, 'SPEECH-55'],
    ['similarity_boost', 1.01, 'SPEECH-55'],
    ['similarity_boost', '1', 'SPEECH-56'],
    ['similarity_boost', true, 'SPEECH-56'],
    ['similarity_boost', [1], 'SPEECH-56'],
    ['style', -0.01, 'SPEECH-58'],
    ['style', 1.01, 'SPEECH-58'],
    ['style', '1', 'SPEECH-59'],
    ['style', true, 'SPEECH-59'],
    ['style', [1], 'SPEECH-59'],
    ['seed', -1, 'SPEECH-63'],
    ['seed', 4_294_967_296, 'SPEECH-63'],
    ['seed', 1.5, 'SPEECH-64'],
    ['seed', '1', 'SPEECH-64'],
    ['seed', true, 'SPEECH-64'],
    ['previous_text', 5, 'SPEECH-66'],
    ['next_text', 5, 'SPEECH-68'],
    ['next_text', ['a'], 'SPEECH-68'],
  ])('%s = %j (%s)', async (field, value) => {
    await refused({ [field]: value }, badField(field));
  });

  it.each([
    ['previous_text', 'SPEECH-66'],
    ['next_text', 'SPEECH-68'],
  ])('a %s of 5,001 code points (%s)', async (field) => {
    await refused({ [field]: 'x'.repeat(5_001) }, badField(field));
  });

  it.each(['1e999', '-1e999', '99999999999999999999999', '4294967295.5'])(
    'a seed written as %s',
    async (seed) => {
      const body = `{"model":"aud-v4","input":"Hello","voice":"Adam","seed":${seed}}`;
      const call = () => postJson(`${gateway.url}/v1/audio/speech`, account.headers, body);
      await expectRefused(gateway, account.accountId, call, badField('seed'));
    },
  );

  it('a request with an Idempotency-Key, even with a body it cannot read (SPEECH-02, G-01)', async () => {
    for (const key of ['abc', '']) {
      const call = () =>
        postJson(
          `${gateway.url}/v1/audio/speech`,
          { ...account.headers, 'idempotency-key': key },
          '{broken',
        );
      await expectRefused(gateway, account.accountId, call, {
        status: 400,
        code: 'idempotency_not_supported',
        param: 'Idempotency-Key',
      });
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/jsonp',
    '',
  ])('the content type "%s" (SPEECH-73)', async (type) => {
    const call = () =>
      send(`${gateway.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { ...account.headers, 'content-type': type },
        body: JSON.stringify(HELLO),
      });
    await expectRefused(gateway, account.accountId, call, {
      status: 400,
      code: 'invalid_content_type',
    });
  });

  it('a model that the allowlist of the key leaves out (SPEECH-07)', async () => {
    const key = await gateway.keyOf(account.accountId, { allowedModels: ['aud-v3'] });
    const call = () =>
      postJson(`${gateway.url}/v1/audio/speech`, { authorization: `Bearer ${key}` }, HELLO);
    await expectRefused(gateway, account.accountId, call, {
      status: 403,
      code: 'api_key_model_not_allowed',
      param: 'model',
    });
  });

  it('nothing but bad requests: the account still buys afterwards', async () => {
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, HELLO);
    expect(answer.status).toBe(200);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { postJson, send } from '../../support/http-answer.js';

const HOOK = 'https://example.com/hook';
const SECRET = 'sixteen letters.';
/** Nothing is sent to the provider here. */
const SETTINGS = { TASK_TICK_MS: '86400000', PUBLIC_URL: 'https://shim.example' };

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open(SETTINGS);
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

describe('POST /v1/audio/dubbing refuses', () => {
  it.each([
    ['a missing model', { model: undefined }, 400, 'invalid_request', 'model', 'DUB-11'],
    ['a model that is no text', { model: 5 }, 400, 'invalid_request', 'model', 'DUB-11'],
    ['an unknown model', { model: 'aud-x' }, 404, 'model_not_available', 'model', 'DUB-12'],
    ['a speech model', { model: 'aud-v4' }, 503, 'no_eligible_route', 'model', 'DUB-12'],
  ])('%s', async (_what, fields, status, code, param, _row) => {
    await harness.refuses(() => harness.post(fields), { status, code, param });
    expect(harness.host.seen).toHaveLength(0);
  });

  it.each([undefined, 'auto', 'xx', 'EN', 'english', 5, 'th', 'he', 'nb', 'eng', 'pt-BR', ''])(
    'target_language = %j (DUB-29, LANG-03)',
    async (code) => {
      await harness.refuses(() => harness.post({ target_language: code }), {
        status: 400,
        code: 'invalid_request',
        param: 'target_language',
      });
    },
  );

  it.each([
    ['source_language', 'xx', 'DUB-31'],
    ['source_language', 'EN', 'DUB-31'],
    ['source_language', '', 'DUB-31'],
    ['num_speakers', -1, 'DUB-34'],
    ['num_speakers', 33, 'DUB-34'],
    ['num_speakers', 1.5, 'DUB-35'],
    ['num_speakers', '1', 'DUB-35'],
    ['num_speakers', true, 'DUB-35'],
    ['highest_resolution', 'true', 'DUB-37'],
    ['highest_resolution', 1, 'DUB-37'],
    ['highest_resolution', 'yes', 'DUB-37'],
    ['drop_background_audio', 'true', 'DUB-39'],
    ['drop_background_audio', 1, 'DUB-39'],
    ['drop_background_audio', 'yes', 'DUB-39'],
    ['file', 'abc', 'DUB-45'],
    ['watermark', false, 'DUB-45'],
    ['foo', null, 'DUB-45'],
    ['audio_url', 'https://example.com/a.mp3', 'DUB-45'],
  ] as readonly (readonly [string, unknown, string])[])('%s = %j (%s)', async (field, value) => {
    await harness.refuses(() => harness.post({ [field]: value }), {
      status: 400,
      code: 'invalid_request',
      param: field,
    });
    expect(harness.host.seen).toHaveLength(0);
  });

  it.each([
    [{ webhook: HOOK }, 'webhook_secret', 'DUB-43, HOOK-27'],
    [{ webhook_secret: SECRET }, 'webhook_secret', 'DUB-43, HOOK-33'],
    [{ webhook: HOOK, webhook_secret: 'fifteen letters' }, 'webhook_secret', 'DUB-42, HOOK-27'],
    [{ webhook: HOOK, webhook_secret: 'x'.repeat(257) }, 'webhook_secret', 'DUB-42, HOOK-27'],
    [{ webhook: HOOK, webhook_secret: 5 }, 'webhook_secret', 'DUB-42'],
    [{ webhook: 'http://example.com/hook', webhook_secret: SECRET }, 'webhook', 'DUB-44, HOOK-26'],
    [{ webhook: 'https://10.0.0.1/hook', webhook_secret: SECRET }, 'webhook', 'DUB-44, HOOK-31'],
    [{ webhook: 'https://localhost/', webhook_secret: SECRET }, 'webhook', 'DUB-44, HOOK-31'],
    [{ webhook: 'https://shim.example/x', webhook_secret: SECRET }, 'webhook', 'DUB-44, HOOK-31'],
    [{ webhook: 'hook', webhook_secret: SECRET }, 'webhook', 'DUB-44'],
    [{ webhook: 5, webhook_secret: SECRET }, 'webhook', 'DUB-44'],
  ])('%j, naming %s (%s)', async (fields, param, _rows) => {
    await harness.refuses(() => harness.post(fields), {
      status: 400,
      code: 'invalid_task_command',
      param,
    });
    expect(harness.host.seen).toHaveLength(0);
  });

  it('an invalid source text before it checks the key (DUB-13)', async () => {
    const key = { 'idempotency-key': 'one' };
    await harness.submit({}, key);
    for (const source_url of ['ftp://example.com/a.mp3', 'https://10.1.2.3/a.mp3']) {
      await harness.refuses(() => harness.post({ source_url }, key), {
        status: 400,
        code: 'invalid_request',
        param: 'source_url',
      });
    }
  });

  it('a form (DUB-46, G-10)', async () => {
    const form = new FormData();
    form.set('model', 'aud-dubbing-v1');
    const url = `${harness.gateway.url}/v1/audio/dubbing`;
    const { headers } = harness.account;
    await harness.refuses(() => send(url, { method: 'POST', headers, body: form }), {
      status: 400,
      code: 'invalid_content_type',
    });
  });
});

describe('POST /v1/audio/dubbing takes', () => {
  it.each([16, 256])(
    'a webhook with a secret of %i characters (DUB-41, HOOK-27)',
    async (length) => {
      await harness.submit({
        webhook: harness.receiver.url,
        webhook_secret: 'é'.repeat(length),
      });
    },
  );

  it('an integral 1.0 for one speaker: it is the same request (DUB-35)', async () => {
    const headers = { ...harness.account.headers, 'idempotency-key': 'speakers' };
    const { id } = await harness.submit({ num_speakers: 1 }, headers);
    const fields = `"model":"aud-dubbing-v1","source_url":"${harness.source()}","target_language":"fr"`;
    const url = `${harness.gateway.url}/v1/audio/dubbing`;
    const answer = await postJson(url, headers, `{${fields},"num_speakers":1.0}`);
    expect([answer.status, answer.json]).toMatchObject([202, { id }]);
  });

  it('null for every optional field', async () => {
    await harness.submit({
      source_language: null,
      num_speakers: null,
      highest_resolution: null,
      drop_background_audio: null,
      webhook: null,
      webhook_secret: null,
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO, PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import { startRecordingServer, type RecordingServer } from '../../support/recording-server.js';
import { expectRefused, upstreamCalls } from '../../support/refusal.js';

let recordings: RecordingServer;
let gateway: TestGateway;
let accountId: string;
let key: string;

beforeAll(async () => {
  recordings = await startRecordingServer();
  gateway = await startTestGateway(recordings.settings);
  ({ accountId, key } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await recordings.stop();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const speak = (headers: Record<string, string>, fields: object = {}) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });

describe('an allowlist', () => {
  const ROW_OF: Readonly<Record<string, string>> = {
    '/v1/chat/completions': 'AUTH-09',
    '/v1/embeddings': 'G-08',
    '/v1/images/generations': 'AUTH-10',
    '/v1/audio/speech': 'AUTH-12',
    '/v1/audio/dialogue': 'AUTH-13',
    '/v1/audio/transcriptions': 'AUTH-14',
    '/v1/audio/alignment': 'AUTH-15',
    '/v1/audio/voice-changer': 'AUTH-16',
    '/v1/audio/isolation': 'AUTH-17',
    '/v1/audio/sound-effects': 'AUTH-18',
    '/v1/audio/music': 'AUTH-19',
  };

  it.each(PAID_ENDPOINTS.map((endpoint) => ({ ...endpoint, row: ROW_OF[endpoint.path] })))(
    'that leaves out $model keeps it from $path ($row)',
    async ({ path, body, model }) => {
      const allowed = PAID_ENDPOINTS.map((other) => other.model).filter((id) => id !== model);
      const token = await gateway.keyOf(accountId, { allowedModels: allowed });
      const call = () => postJson(gateway.url + path, bearer(token), body(recordings.url));
      await expectRefused(gateway, accountId, call, {
        status: 403,
        code: 'api_key_model_not_allowed',
        param: 'model',
      });
    },
  );

  it.each(PAID_ENDPOINTS)('with $model lets it pass on $path (AUTH-22)', async (row) => {
    const token = await gateway.keyOf(accountId, { allowedModels: [row.model] });
    const body = row.body(recordings.url);
    const answer = await postJson(gateway.url + row.path, bearer(token), body);
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  });

  it.each(PAID_ENDPOINTS)(
    'does not hide that an id on $path is unknown (AUTH-24, G-08)',
    async (row) => {
      const token = await gateway.keyOf(accountId, { allowedModels: [row.model] });
      const body = { ...row.body(recordings.url), model: 'no-such-model' };
      const code = row.surface === 'audio' ? 'model_not_available' : 'model_not_found';
      const call = () => postJson(gateway.url + row.path, bearer(token), body);
      await expectRefused(gateway, accountId, call, { status: 404, code, param: 'model' });
    },
  );

  it('that is empty allows nothing; a key without one allows every model (AUTH-23)', async () => {
    const none = await gateway.keyOf(accountId, { allowedModels: [] });
    await expectRefused(gateway, accountId, () => speak(bearer(none)), {
      status: 403,
      code: 'api_key_model_not_allowed',
    });
    const before = await upstreamCalls(gateway);
    const models = ['aud-v4', 'aud-v3', 'aud-multilingual-v2', 'aud-flash-v2.5'];
    for (const model of models) expect((await speak(bearer(key), { model })).status).toBe(200);
    expect((await upstreamCalls(gateway)) - before).toBe(models.length);
  });
});

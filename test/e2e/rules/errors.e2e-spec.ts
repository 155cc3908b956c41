import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { HELLO, PAID_ENDPOINTS } from '../../support/paid-endpoints.js';
import { expectRefused } from '../../support/refusal.js';
import { INSTANT } from '../../support/paid-speech.js';
import { startRecordingServer, type RecordingServer } from '../../support/recording-server.js';

let recordings: RecordingServer;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  recordings = await startRecordingServer();
  gateway = await startTestGateway(recordings.settings);
  account = await gateway.account();
});
/** A good call between the bad ones keeps the circuit breaker closed. */
beforeEach(async () => {
  expect((await speak({ input: INSTANT })).status).toBe(200);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await recordings.stop();
});

const speak = (fields: object = {}, headers: Record<string, string> = account.headers) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
const magic = (word: string) => ({ input: `[[sandbox:${word}]]` });

/** One way to cause each code on speech. */
const WAYS: readonly {
  readonly row: string;
  readonly code: string;
  readonly status: number;
  readonly type: string;
  readonly fields?: object;
  readonly headers?: Record<string, string>;
}[] = [
  { row: 'ERR-04', code: 'invalid_token', status: 401, type: 'authentication_error', headers: {} },
  {
    row: 'ERR-06',
    code: 'invalid_request',
    status: 400,
    type: 'invalid_request_error',
    fields: { speed: 9 },
  },
  {
    row: 'ERR-10',
    code: 'provider_rate_limited',
    status: 429,
    type: 'rate_limit_error',
    fields: magic('status=429'),
  },
  {
    row: 'ERR-13',
    code: 'idempotency_not_supported',
    status: 400,
    type: 'invalid_request_error',
    headers: { 'idempotency-key': 'a' },
  },
  {
    row: 'ERR-12',
    code: 'invalid_content_type',
    status: 400,
    type: 'invalid_request_error',
    headers: { 'content-type': 'text/plain' },
  },
  {
    row: 'ERR-14',
    code: 'provider_rejected_request',
    status: 400,
    type: 'invalid_request_error',
    fields: { language: 'xx' },
  },
  {
    row: 'ERR-21',
    code: 'invalid_input',
    status: 400,
    type: 'invalid_request_error',
    fields: { input: '' },
  },
  {
    row: 'ERR-22',
    code: 'input_too_long',
    status: 400,
    type: 'invalid_request_error',
    fields: { input: 'x'.repeat(10_001) },
  },
  {
    row: 'ERR-24',
    code: 'model_not_available',
    status: 404,
    type: 'invalid_request_error',
    fields: { model: 'nope' },
  },
  {
    row: 'ERR-27',
    code: 'provider_http_error',
    status: 502,
    type: 'server_error',
    fields: magic('status=500'),
  },
  {
    row: 'ERR-29',
    code: 'no_eligible_route',
    status: 503,
    type: 'server_error',
    fields: { model: 'aud-music-v2.5' },
  },
  {
    row: 'ERR-30',
    code: 'provider_unavailable',
    status: 503,
    type: 'server_error',
    fields: magic('status=503'),
  },
];

describe('an error answer', () => {
  it.each(WAYS)('$code is $status with the type $type ($row)', async (way) => {
    const isAnonymous = way.code === 'invalid_token';
    const headers = isAnonymous ? {} : { ...account.headers, ...way.headers };
    const { code, status, type } = way;
    const before = await gateway.balance(account.accountId);
    const answer = await speak(way.fields, headers);
    expect({ status: answer.status, ...errorOf(answer) }).toMatchObject({ status, code, type });
    expect(await gateway.balance(account.accountId)).toEqual(before);
  });

  it('has the type of its status on every 400 (ERR-01, ERR-02, G-04, G-05)', async () => {
    for (const { path, body } of PAID_ENDPOINTS) {
      const call = { ...body(recordings.url), foo: 1 };
      // Without it, responses leave unknown fields out (decision G-107).
      const strict = { ...account.headers, 'x-gateway-strict': 'true' };
      const answer = await postJson(gateway.url + path, strict, call);
      expect(answer.status).toBe(400);
      expect(errorOf(answer).type).toBe('invalid_request_error');
    }
  });

  it('402 has the code of its family (ERR-07, ERR-08, G-06)', async () => {
    const poor = await gateway.account(0n);
    for (const { path, body, surface } of PAID_ENDPOINTS) {
      const code = surface === 'audio' ? 'insufficient_funds' : 'insufficient_user_quota';
      const call = () => postJson(gateway.url + path, poor.headers, body(recordings.url));
      await expectRefused(gateway, poor.accountId, call, { status: 402, code });
    }
  });

  it('404 of a model has the code of its family (ERR-05, G-07)', async () => {
    for (const { path, body, surface } of PAID_ENDPOINTS) {
      const code = surface === 'audio' ? 'model_not_available' : 'model_not_found';
      const ask = { ...body(recordings.url), model: 'no-such-model' };
      const call = () => postJson(gateway.url + path, account.headers, ask);
      await expectRefused(gateway, account.accountId, call, { status: 404, code, param: 'model' });
    }
  });

  it('of a model on the wrong endpoint is 503 on audio and 400 elsewhere (ERR-40, G-09)', async () => {
    for (const { path, body, surface, otherModel } of PAID_ENDPOINTS) {
      const ask = { ...body(recordings.url), model: otherModel };
      const call = () => postJson(gateway.url + path, account.headers, ask);
      const refusal =
        surface === 'audio'
          ? { status: 503, code: 'no_eligible_route' }
          : { status: 400, code: 'model_not_found' };
      const { answer } = await expectRefused(gateway, account.accountId, call, refusal);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
  });

  it('403 names the model as the parameter (ERR-23)', async () => {
    const key = await gateway.keyOf(account.accountId, { allowedModels: [] });
    const call = () => speak({}, { authorization: `Bearer ${key}` });
    await expectRefused(gateway, account.accountId, call, {
      status: 403,
      code: 'api_key_model_not_allowed',
      param: 'model',
    });
  });

  it.each([
    ['speed', { speed: 3 }],
    ['voice', { voice: 'nobody' }],
    ['foo', { foo: 1 }],
    ['input', { input: 5 }],
  ])('names the bad field %s (ERR-42)', async (param, fields) => {
    const { error } = await expectRefused(gateway, account.accountId, () => speak(fields), {
      status: 400,
      code: 'invalid_request',
      param,
    });
    expect(error.message).toContain(param);
  });

  it('of a nested field has its dotted path (ERR-42, G-05)', async () => {
    const inputs = [
      { text: 'a', voice: 'Adam' },
      { text: 'b', voice: 'nobody' },
    ];
    const call = () =>
      postJson(`${gateway.url}/v1/audio/dialogue`, account.headers, {
        model: 'aud-v4-dialogue',
        inputs,
      });
    await expectRefused(gateway, account.accountId, call, {
      status: 400,
      code: 'invalid_request',
      param: 'inputs.1.voice',
    });
  });
});

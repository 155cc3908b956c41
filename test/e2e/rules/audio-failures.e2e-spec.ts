import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type AudioOperation,
  AUDIO_OPERATIONS,
  call,
  callWithMagic,
} from '../../support/audio-operations.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, send } from '../../support/http-answer.js';
import { expectRefused, type Refusal } from '../../support/refusal.js';
import { servedBy } from '../../support/stub-speech.js';

/** Nothing listens on the discard port. */
const NOBODY = { url: 'http://127.0.0.1:9' };

let gateway: TestGateway;
let impatient: TestGateway;
let abortResponse: TestGateway;

beforeAll(async () => {
  [gateway, impatient, abortResponse] = await Promise.all([
    startTestGateway(),
    startTestGateway({ UPSTREAM_TIMEOUT_MS: '300' }),
    startTestGateway(servedBy(NOBODY)),
  ]);
});
afterAll(async () => {
  for (const each of [gateway, impatient, abortResponse]) {
    await each.expectCleanBooks();
    await each.stop();
  }
});

/** A test of every operation. `rows` are in the order of AUDIO_OPERATIONS. */
const rule = (...rows: string[]) =>
  it.each(AUDIO_OPERATIONS.map((operation, at) => [operation.path, rows[at], operation] as const));

/** Proves that the provider's failure is answered with `refusal` and costs nothing. */
async function failsFree(
  where: TestGateway,
  operation: AudioOperation,
  magic: string,
  refusal: Refusal,
) {
  const { accountId, headers } = await where.account(operation.price * 100n);
  const before = await where.balance(accountId);
  const answer = await callWithMagic(operation, where.url, headers, magic);
  const { code } = errorOf(answer);
  expect({ status: answer.status, code }).toEqual(refusal);
  expect(await where.balance(accountId)).toEqual(before);
  return answer;
}

describe('a synchronous audio call that fails', () => {
  rule(
    'DLG-09',
    'SFX-09',
    'MUSIC-09',
    'STT-09',
    'ALIGN-09',
    'VC-09',
    'ISO-09',
  )('%s costs nothing when the provider fails (%s)', async (_path, _row, operation) => {
    for (const magic of ['[[sandbox:status=500]]', '[[sandbox:html]]', '[[sandbox:reset]]']) {
      await failsFree(gateway, operation, magic, { status: 502, code: 'provider_http_error' });
    }
  });

  rule(
    'DLG-10',
    'SFX-10',
    'MUSIC-10',
    'STT-10',
    'ALIGN-10',
    'VC-10',
    'ISO-10',
  )(
    '%s costs nothing when the provider does not answer in time (%s)',
    async (_path, _row, operation) => {
      const refusal = { status: 502, code: 'provider_timeout' };
      const answer = await failsFree(impatient, operation, '[[sandbox:hang]]', refusal);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    },
  );

  rule(
    'DLG-11',
    'SFX-11',
    'MUSIC-11',
    'STT-11',
    'ALIGN-11',
    'VC-11',
    'ISO-11',
  )(
    '%s costs nothing when the provider refuses the request (%s)',
    async (_path, _row, operation) => {
      const refusal = { status: 400, code: 'provider_rejected_request' };
      await failsFree(gateway, operation, '[[sandbox:status=422]]', refusal);
    },
  );

  rule(
    'DLG-12',
    'SFX-12',
    'MUSIC-12',
    'STT-12',
    'ALIGN-12',
    'VC-12',
    'ISO-12',
  )('%s passes on when to come back from a rate limit (%s)', async (_path, _row, operation) => {
    const magic = '[[sandbox:status=429]][[sandbox:retry-after=9]]';
    const refusal = { status: 429, code: 'provider_rate_limited' };
    const answer = await failsFree(gateway, operation, magic, refusal);
    expect(answer.headers.get('retry-after')).toBe('9');
  });

  rule(
    'DLG-13',
    'SFX-13',
    'MUSIC-13',
    'STT-13',
    'ALIGN-13',
    'VC-13',
    'ISO-13',
  )(
    '%s is unavailable while every route is down, and free (%s)',
    async (_path, _row, operation) => {
      await failsFree(abortResponse, operation, 'Hi', {
        status: 503,
        code: 'provider_unavailable',
      });
    },
  );

  rule(
    'DLG-39',
    'SFX-33',
    'MUSIC-32',
    'STT-28',
    'ALIGN-28',
    'VC-28',
    'ISO-27',
  )('%s refuses other content types (%s)', async (path, _row, operation) => {
    const { accountId, headers } = await gateway.account();
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'audio/wav', ''];
    if (!operation.takesRecording) types.push('multipart/form-data; boundary=x');
    for (const type of types) {
      const post = () =>
        send(`${gateway.url}${path}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': type },
          body: JSON.stringify(operation.body),
        });
      await expectRefused(gateway, accountId, post, { status: 400, code: 'invalid_content_type' });
    }
  });

  rule()(
    '%s tells the first fault in the order of checks (AUD-54)',
    async (_path, _row, operation) => {
      // Without any balance a form is refused before it is read (decision G-101).
      const { accountId, headers } = await gateway.account(1n);
      const refused = (fields: object, refusal: Refusal) =>
        expectRefused(
          gateway,
          accountId,
          () => call(operation, gateway.url, headers, fields),
          refusal,
        );
      const audio_url = 'https://media.example.com/a.wav';
      await refused(
        { foo: 1, audio_url, model: 'aud-v9' },
        { status: 404, code: 'model_not_available' },
      );
      await refused({ foo: 1 }, { status: 400, code: 'invalid_request', param: 'foo' });
      await refused({}, { status: 402, code: 'insufficient_funds' });
    },
  );
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { until } from '../../support/until.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ RATE_LIMIT_RPM: '0' });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const speak = (key: string, body: object = {}) =>
  postJson(`${gateway.url}/v1/audio/speech`, bearer(key), { ...HELLO, ...body });

describe('an error names what is allowed', () => {
  it('lists the fields there are beside an unknown one', async () => {
    const { key } = await gateway.account();
    const error = errorOf(await speak(key, { text: 'Hello' }));
    expect(error).toMatchObject({ code: 'invalid_request', param: 'text' });
    expect(error.message).toMatch(/^text is not a field here\. The fields are model, input, voice/);
  });

  it('names the field that an unknown one resembles', async () => {
    const { key } = await gateway.account();
    expect(errorOf(await speak(key, { voise: 'Adam' })).message).toMatch(/Did you mean voice\?/);
  });

  it('lists the fields of the object that an unknown field is in', async () => {
    const { key } = await gateway.account();
    const body = {
      model: 'aud-v4-dialogue',
      inputs: [{ text: 'Hello', voice: 'Adam', mood: 'sad' }],
    };
    const error = errorOf(await postJson(`${gateway.url}/v1/audio/dialogue`, bearer(key), body));
    expect(error.param).toBe('inputs.0.mood');
    expect(error.message).toMatch(/The fields are text, voice\.$/);
  });

  it('tells the place of a fault in the JSON, and quotes nothing of it', async () => {
    const { key } = await gateway.account();
    const broken = async (body: string) =>
      errorOf(
        await send(`${gateway.url}/v1/audio/speech`, {
          method: 'POST',
          headers: { ...bearer(key), 'content-type': 'application/json' },
          body,
        }),
      ).message;
    expect(await broken('{\n  "model": "aud-v4",\n  "input": secret\n}')).toBe(
      'The body is not valid JSON: there is an error at line 3, column 12.',
    );
    expect(await broken('{"model": "aud-v4"')).toMatch(/^The body is not valid JSON: /);
  });

  it('says which word of the list of tasks means a completed video', async () => {
    const { key } = await gateway.account();
    const answer = await send(`${gateway.url}/v1/tasks?status=completed`, { headers: bearer(key) });
    expect(errorOf(answer).message).toMatch(/succeeded.*a video that says completed is succeeded/);
  });
});

describe('an error names numbers', () => {
  it('of the limit of requests and of the wait', async () => {
    const { accountId } = await gateway.account();
    const key = await gateway.keyOf(accountId, { requestsPerMinute: 1 });
    await speak(key);
    const answer = await speak(key);
    const seconds = answer.headers.get('retry-after');
    expect(errorOf(answer).message).toBe(
      `This API key may send 1 requests a minute. Try again in ${seconds} s.`,
    );
  });

  it('of the price where the balance is too small, and of the limit where the key may spend no more', async () => {
    const poor = await gateway.account(10n);
    expect(errorOf(await speak(poor.key))).toMatchObject({
      code: 'insufficient_funds',
      param: null,
      needed_microusd: '600',
      available_microusd: '10',
      message:
        'This request may cost 600 micro-USD, and 10 micro-USD are available. GET /v1/account tells what the account has.',
    });
    const { accountId } = await gateway.account();
    const terms = { spendLimitMicroUsd: 10n, spendLimitPeriod: 'total' } as const;
    const limited = await gateway.keyOf(accountId, terms);
    // On a busy machine the process may be late to learn of changes of keys, now or the next time, and then names no limit.
    let error = errorOf(await speak(limited));
    await until(async () => {
      error = errorOf(await speak(limited));
      return error.message.includes('may spend 10 micro');
    });
    expect(error).toMatchObject({
      code: 'insufficient_funds',
      param: 'spend_limit',
      needed_microusd: '600',
      available_microusd: '10',
      message:
        'This request may cost 600 micro-USD, and 10 micro-USD are available. This key may spend 10 micro-USD in all, and less is left.',
    });
  });
});

describe('a model of another endpoint', () => {
  it('is 503 without Retry-After, because a retry cannot help (G-09)', async () => {
    const { key } = await gateway.account();
    const answer = await speak(key, { model: 'aud-voice-isolator' });
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'no_eligible_route']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.headers.get('retry-after')).toBeNull();
  });
});

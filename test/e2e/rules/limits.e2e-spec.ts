import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestAccount } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { expectRefused } from '../../support/refusal.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

const MEGABYTE = 1_048_576;

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

const speak = (fields: object = {}, headers: Record<string, string> = account.headers) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
const magic = (word: string) => ({ input: `[[sandbox:${word}]]` });

describe('a body that is too large', () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify({ ...HELLO, next_text: '' });
    return text.replace('"next_text":""', `"next_text":"${'x'.repeat(bytes - text.length)}"`);
  };

  it('by one byte is 413, and at the limit only the field is at fault (ERR-38, G-11)', async () => {
    const call = (bytes: number) => () =>
      postJson(`${gateway.url}/v1/audio/speech`, account.headers, padded(bytes));
    await expectRefused(gateway, account.accountId, call(MEGABYTE + 1), {
      status: 413,
      code: 'request_too_large',
    });
    await expectRefused(gateway, account.accountId, call(MEGABYTE), {
      status: 400,
      code: 'invalid_request',
      param: 'next_text',
    });
  });

  it('is 413 as well when its length is not declared (ERR-38, G-11)', async () => {
    const chunk = Buffer.alloc(65_536, 0x20);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(chunk);
      },
    });
    const call = () =>
      send(`${gateway.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { ...account.headers, 'content-type': 'application/json' },
        body,
        duplex: 'half',
      });
    await expectRefused(gateway, account.accountId, call, {
      status: 413,
      code: 'request_too_large',
    });
  });
});

describe('a rate limit', () => {
  it('answers 429 with Retry-After and what is left (ERR-09, LIMIT-17, G-14)', async () => {
    const key = await gateway.keyOf(account.accountId, { requestsPerMinute: 2 });
    const headers = { authorization: `Bearer ${key}` };
    const bad = { speed: 9 };
    expect((await speak(bad, headers)).headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect((await speak(bad, headers)).headers.get('x-ratelimit-limit-requests')).toBe('2');
    const { answer, error } = await expectRefused(
      gateway,
      account.accountId,
      () => speak({}, headers),
      { status: 429, code: 'rate_limit_exceeded' },
    );
    expect(error.type).toBe('rate_limit_error');
    const retryAfter = answer.headers.get('retry-after') ?? '';
    expect(retryAfter).toMatch(/^[1-9]\d*$/);
    expect(Number(retryAfter)).toBeLessThanOrEqual(30);
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(answer.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+ms$/);
    expect((await send(`${gateway.url}/v1/account`, { headers })).status).toBe(200);
    expect((await speak()).status).toBe(200);
  });

  it('of the provider has a Retry-After of its own (ERR-10, LIMIT-17)', async () => {
    const answer = await speak(magic('status=429]][[sandbox:retry-after=9'));
    expect(errorOf(answer).code).toBe('provider_rate_limited');
    expect(answer.headers.get('retry-after')).toBe('9');
  });
});

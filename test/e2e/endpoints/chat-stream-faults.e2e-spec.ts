import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChatStreamHarness, magic } from '../../support/chat-stream-harness.js';
import { leaveAfter } from '../../support/event-stream.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';

const CREDIT = 10_000_000n;
/** It has no hidden reasoning. */
const MODEL = { id: 'gen-4-mini', input: 400_000n, output: 1_600_000n };

let harness: ChatStreamHarness;

beforeAll(async () => {
  harness = await ChatStreamHarness.start(MODEL);
});
afterAll(() => harness.stop());

describe('faults', () => {
  // Ten failures in a row, or more failures than successes, would take the route out of use.
  beforeEach(async () => {
    for (let call = 0; call < 3; call++) {
      const answer = await postJson(
        harness.url,
        harness.shared.headers,
        harness.ask(magic('tokens=1')),
      );
      expect(answer.status).toBe(200);
    }
  });

  it.each([
    ['status=500', 502, 'provider_http_error'],
    ['status=400', 400, 'provider_rejected_request'],
    ['status=429', 429, 'provider_rate_limited'],
    ['reset', 502, 'provider_http_error'],
    ['html', 502, 'provider_http_error'],
    ['json', 502, 'provider_http_error'],
    ['empty', 502, 'provider_http_error'],
  ])(
    'answers %s before the first chunk with a plain error (CHAT-25)',
    async (word, status, code) => {
      for (const isStream of [true, false]) {
        const account = await harness.gateway.account(CREDIT);
        const body = harness.ask(magic(word), { stream: isStream });
        const answer = await postJson(harness.url, account.headers, body);
        expect({ status: answer.status, code: errorOf(answer).code }).toEqual({ status, code });
        expect(await harness.paid(account)).toBe(0n);
        expect(await harness.executionOf(answer.headers, account)).toMatchObject({
          status: 'failed',
          error_code: code,
        });
      }
    },
  );

  it.each(['break-after=0', 'break-after=5', 'error-after=5'])(
    'ends a stream that breaks (%s) with an error event and without [DONE] (CHAT-25, G-24)',
    async (word) => {
      const account = await harness.gateway.account(CREDIT);
      const events = await harness.stream(harness.ask(magic('tokens=9', 'pace=5', word)), account);
      expect(events.status).toBe(200);
      expect(events.data).not.toContain('[DONE]');
      expect(JSON.parse(events.data.at(-1)!)).toEqual({
        error: {
          message: 'The provider failed to answer the request.',
          type: 'server_error',
          param: null,
          code: 'provider_http_error',
        },
      });
      expect(await harness.paid(account)).toBe(0n);
      expect(await harness.executionOf(events.headers, account)).toMatchObject({
        status: 'failed',
        error_code: 'provider_http_error',
        charged_microusd: null,
      });
    },
  );

  it('aborts the provider when the client leaves and charges what was made (CHAT-26, G-24)', async () => {
    const account = await harness.gateway.account(CREDIT);
    const words = magic('tokens=1000', 'hang-after=12');
    const body = { ...harness.ask(words), model: 'gen-4-mini', stream: true };
    await leaveAfter(harness.url, account.headers, body, 12);
    // 11 tokens at 0.4 and 12 at 1.6 micro-USD, rounded up once.
    const charge = 24n;
    expect(await harness.paid(account)).toBe(charge);
    const { isAborted, completionTokens } = await harness.lastChat();
    expect({ isAborted, completionTokens }).toEqual({ isAborted: true, completionTokens: 12 });
    const { headers } = account;
    const view = await send(`${harness.gateway.url}/v1/account`, { headers });
    expect(view.json).toMatchObject({ available_microusd: `${CREDIT - charge}` });
  });

  it('lets the provider finish when the client of a JSON response disconnects, and charges it', async () => {
    const account = await harness.gateway.account(CREDIT);
    const leaving = new AbortController();
    const call = fetch(harness.url, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', ...account.headers },
      body: JSON.stringify(harness.ask(magic('tokens=10', 'pace=20'))),
    });
    while ((await harness.gateway.balance(account.accountId)).held === 0n) await sleep(5);
    leaving.abort();
    await expect(call).rejects.toThrow();
    expect(await harness.paid(account)).toBe(
      harness.priceOf((await harness.lastChat()).promptTokens, 10),
    );
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRecord } from '../../../src/sandbox/openai/chat-log.js';
import { leaveAfter, RawEvents } from '../../support/event-stream.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';

const PATH = '/v1/chat/completions';
const CREDIT = 10_000_000n;
/** Prices of `gen-4-mini`, which does not reason unseen, micro-USD per million tokens. */
const INPUT = 400_000n;
const OUTPUT = 1_600_000n;

let gateway: TestGateway;
let shared: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  shared = await gateway.account();
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
});

/** A request; magic words stand in `user`, so that they are no part of the prompt. */
function ask(words = '', fields: object = {}): object {
  const messages = [{ role: 'user', content: 'Tell me about the moon' }];
  return { model: 'gen-4-mini', messages, ...(words !== '' && { user: words }), ...fields };
}

const magic = (...words: string[]) => words.map((word) => `[[sandbox:${word}]]`).join(' ');

const stream = (body: object, account = shared) =>
  RawEvents.post(gateway.url + PATH, account.headers, { ...body, stream: true });

const priceOf = (promptTokens: number, completionTokens: number) => {
  const scaled = BigInt(promptTokens) * INPUT + BigInt(completionTokens) * OUTPUT;
  return (scaled + 999_999n) / 1_000_000n;
};

/** What the account has paid, once nothing is held any more. */
async function paid(account: TestAccount): Promise<bigint> {
  for (;;) {
    const { available, held } = await gateway.balance(account.accountId);
    if (held === 0n) return CREDIT - available;
    await sleep(10);
  }
}

async function lastChat(): Promise<ChatRecord> {
  const [chat] = (await gateway.sandbox?.chats(1)) ?? [];
  return chat!;
}

async function executionOf(headers: Headers, account: TestAccount) {
  const id = headers.get('x-gateway-execution-id') ?? '';
  const url = `${gateway.url}/v1/executions/${id}`;
  return (await send(url, { headers: account.headers })).json as Record<string, unknown>;
}

describe('faults', () => {
  // Ten failures in a row, or more failures than successes, would take the route out of use.
  beforeEach(async () => {
    for (let call = 0; call < 3; call++) {
      const answer = await postJson(gateway.url + PATH, shared.headers, ask(magic('tokens=1')));
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
        const account = await gateway.account(CREDIT);
        const body = ask(magic(word), { stream: isStream });
        const answer = await postJson(gateway.url + PATH, account.headers, body);
        expect({ status: answer.status, code: errorOf(answer).code }).toEqual({ status, code });
        expect(await paid(account)).toBe(0n);
        expect(await executionOf(answer.headers, account)).toMatchObject({
          status: 'failed',
          error_code: code,
        });
      }
    },
  );

  it.each(['break-after=0', 'break-after=5', 'error-after=5'])(
    'ends a stream that breaks (%s) with an error event and without [DONE] (CHAT-25)',
    async (word) => {
      const account = await gateway.account(CREDIT);
      const events = await stream(ask(magic('tokens=9', 'pace=5', word)), account);
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
      expect(await paid(account)).toBe(0n);
      expect(await executionOf(events.headers, account)).toMatchObject({
        status: 'failed',
        error_code: 'provider_http_error',
        charged_microusd: null,
      });
    },
  );

  it('aborts the provider when the client leaves and charges what was made (CHAT-26)', async () => {
    const account = await gateway.account(CREDIT);
    const words = magic('tokens=1000', 'hang-after=12');
    const body = { ...ask(words), model: 'gen-4-mini', stream: true };
    await leaveAfter(gateway.url + PATH, account.headers, body, 12);
    // 11 tokens at 0.4 and 12 at 1.6 micro-USD, rounded up once.
    const charge = 24n;
    expect(await paid(account)).toBe(charge);
    const { isAborted, completionTokens } = await lastChat();
    expect({ isAborted, completionTokens }).toEqual({ isAborted: true, completionTokens: 12 });
    const { headers } = account;
    const view = await send(`${gateway.url}/v1/account`, { headers });
    expect(view.json).toMatchObject({ available_microusd: `${CREDIT - charge}` });
  });

  it('charges nothing when the client leaves before the first chunk', async () => {
    const account = await gateway.account(CREDIT);
    const leaving = new AbortController();
    const call = fetch(gateway.url + PATH, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', ...account.headers },
      body: JSON.stringify({ ...ask(magic('hang')), model: 'gen-4-mini', stream: true }),
    });
    while ((await gateway.balance(account.accountId)).held === 0n) await sleep(5);
    leaving.abort();
    await expect(call).rejects.toThrow();
    expect(await paid(account)).toBe(0n);
    const rows = await gateway.dataSource.query<{ error_code: string }[]>(
      'SELECT error_code FROM execution WHERE account_id = $1',
      [account.accountId],
    );
    expect(rows).toEqual([{ error_code: 'client_left' }]);
  });

  it('lets the provider finish when the client of a JSON answer leaves, and charges it', async () => {
    const account = await gateway.account(CREDIT);
    const leaving = new AbortController();
    const call = fetch(gateway.url + PATH, {
      method: 'POST',
      signal: leaving.signal,
      headers: { 'content-type': 'application/json', ...account.headers },
      body: JSON.stringify(ask(magic('tokens=10', 'pace=20'))),
    });
    while ((await gateway.balance(account.accountId)).held === 0n) await sleep(5);
    leaving.abort();
    await expect(call).rejects.toThrow();
    expect(await paid(account)).toBe(priceOf((await lastChat()).promptTokens, 10));
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson } from '../../support/http-answer.js';
import { PAID_ENDPOINTS } from '../../support/paid-endpoints.js';

const USD = 1_000_000n;
const HI = { model: 'gen-5', messages: [{ role: 'user', content: 'hi' }] };
/** The provider works long enough for all calls of a test to be held at once. */
const SLOW = { messages: [{ role: 'user', content: '[[sandbox:delay=2500]]' }] };

const CATALOG_FILE = join(mkdtempSync(join(tmpdir(), 'fit-')), 'catalog.json');
const SMALL = {
  id: 'small',
  operation: 'chat',
  routes: [{ provider: 'openai', upstream_model: 'x' }],
  price: {
    unit: 'token',
    input_micro_usd_per_million: 1_000_000,
    output_micro_usd_per_million: 1_000_000,
  },
  limits: { max_output_tokens: 1_000 },
  min_output_tokens: 5,
};

let gateway: TestGateway;
beforeAll(async () => {
  writeFileSync(CATALOG_FILE, JSON.stringify({ models: [SMALL] }));
  gateway = await startTestGateway({ CATALOG_FILE });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const chat = (key: string, fields: object = {}): Promise<Answer> =>
  postJson(
    `${gateway.url}/v1/chat/completions`,
    { authorization: `Bearer ${key}` },
    { ...HI, ...fields },
  );
const capOf = ({ headers }: Answer) => [
  headers.get('x-gateway-output-cap'),
  headers.get('x-gateway-output-cap-reason'),
];
async function sentCap(): Promise<unknown> {
  const [last] = await gateway.upstreamRequests();
  return (last as { body?: { max_completion_tokens?: unknown } }).body?.max_completion_tokens;
}
async function executionOf(key: string, answer: Answer) {
  const id = answer.headers.get('x-gateway-execution-id') ?? '';
  const url = `${gateway.url}/v1/executions/${id}`;
  const found = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  return (await found.json()) as Record<string, unknown>;
}

describe('a chat call without a cap (G-106)', () => {
  it('says hi to gen-5 on 1 USD: an eighth of it buys 12,500 tokens, which the provider is told (G-106)', async () => {
    const { key, accountId } = await gateway.account(USD);
    const answer = await chat(key);
    expect(answer.status).toBe(200);
    expect(capOf(answer)).toEqual(['12500', 'balance']);
    expect(await sentCap()).toBe(12_500);
    expect(await executionOf(key, answer)).toMatchObject({
      output_cap: 12_500,
      output_cap_reason: 'balance',
      held_microusd: '125047',
      capped: false,
    });
    expect((await gateway.balance(accountId)).held).toBe(0n);
  });

  it('tells the cap of a stream in its head', async () => {
    const { key } = await gateway.account(USD);
    const answer = await chat(key, { stream: true });
    expect(capOf(answer)).toEqual(['12500', 'balance']);
    expect(answer.bytes.toString()).toContain('[DONE]');
  });

  it('has the whole output of the model where an eighth covers it', async () => {
    const { key } = await gateway.account(100n * USD);
    const answer = await chat(key);
    expect(capOf(answer)).toEqual(['128000', 'model']);
    expect(await executionOf(key, answer)).toMatchObject({
      output_cap: 128_000,
      output_cap_reason: 'model',
    });
  });

  it('is bound by what is left of the limit of its key', async () => {
    const { accountId } = await gateway.account(100n * USD);
    const terms = { spendLimitMicroUsd: USD, spendLimitPeriod: 'total' } as const;
    const key = await gateway.keyOf(accountId, terms);
    expect(capOf(await chat(key))).toEqual(['12500', 'key']);
  });

  it.each([
    ['gen-5', 16],
    ['gen-5-mini', 28],
  ])('runs on 1 USD at once with %s %i times, and each gets an answer', async (model, times) => {
    const { key, accountId } = await gateway.account(USD);
    const answers = await Promise.all(
      Array.from({ length: times }, () => chat(key, { model, ...SLOW })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(times).fill(200));
    const { available, held } = await gateway.balance(accountId);
    expect(held).toBe(0n);
    expect(available).toBeGreaterThan((USD * 9n) / 10n);
  });

  it('ends with length at its cap, and is charged what it says', async () => {
    // The row of this model takes 5 tokens as its fewest.
    const { key } = await gateway.account(60n);
    const answer = await chat(key, { model: 'small' });
    const [cap, reason] = capOf(answer);
    expect(reason).toBe('balance');
    const { choices, usage } = answer.json as {
      choices: { finish_reason: string }[];
      usage: { completion_tokens: number; cost_microusd: number };
    };
    expect(choices[0]?.finish_reason).toBe('length');
    expect(String(usage.completion_tokens)).toBe(cap);
    expect(usage.cost_microusd).toBeLessThanOrEqual(60);
  });

  it('is refused below prompt and fewest tokens, with what is needed and what would fit', async () => {
    const { key } = await gateway.account(20_000n);
    const refused = await chat(key);
    expect(refused.status).toBe(402);
    expect(errorOf(refused)).toMatchObject({
      code: 'insufficient_user_quota',
      needed_microusd: '41007',
      available_microusd: '20000',
      max_tokens: 1_995,
      message:
        'This request may cost 41007 micro-USD, and 20000 micro-USD are available. ' +
        'With max_tokens of at most 1995 it fits. GET /v1/account tells what the account has.',
    });
    expect(capOf(refused)).toEqual([null, null]);
    expect((await chat(key, { max_tokens: 1_996 })).status).toBe(402);
    const answer = await chat(key, { max_tokens: 1_995 });
    expect(answer.status).toBe(200);
    expect(capOf(answer)).toEqual([null, null]);
  });

  it('names no max_tokens where not even the prompt fits', async () => {
    const { key } = await gateway.account(40n);
    const error = errorOf(await chat(key));
    expect(error).toMatchObject({ needed_microusd: '41007', available_microusd: '40' });
    expect(error).not.toHaveProperty('max_tokens');
    expect(error.message).not.toContain('max_tokens');
  });
});

describe('a chat call with a cap', () => {
  it('holds the whole cap as before, and no header tells it', async () => {
    const { key } = await gateway.account(USD);
    const answer = await chat(key, { max_tokens: 90_000 });
    expect(capOf(answer)).toEqual([null, null]);
    expect(await executionOf(key, answer)).toMatchObject({
      held_microusd: '900047',
      output_cap: null,
      output_cap_reason: null,
    });
    const other = await gateway.account(USD);
    const refused = await chat(other.key, { max_tokens: 128_000 });
    expect(errorOf(refused)).toMatchObject({ needed_microusd: '1280047', max_tokens: 99_995 });
  });
});

const INPUT = { model: 'gen-5', input: 'hi' };
const ADVISED: [string, string, string, object][] = [
  ['a chat', '/v1/chat/completions', 'max_tokens', HI],
  [
    'a chat that caps with it',
    '/v1/chat/completions',
    'max_completion_tokens',
    { ...HI, max_completion_tokens: 90_000 },
  ],
  ['a response', '/v1/responses', 'max_output_tokens', INPUT],
  [
    'a response in the background',
    '/v1/responses',
    'max_output_tokens',
    { ...INPUT, background: true, max_output_tokens: 90_000 },
  ],
  ['a message', '/v1/messages', 'max_tokens', HI],
];

describe('the advice of a 402', () => {
  it.each(ADVISED)('names the field of %s on %s, %s, and then it fits', async (...terms) => {
    const [, path, field, body] = terms;
    const { headers } = await gateway.account(20_000n);
    const ask = (more: object) => postJson(`${gateway.url}${path}`, headers, { ...body, ...more });
    const refused = await ask({});
    expect(refused.status).toBe(402);
    const error = errorOf(refused);
    const [, named, most] = /With (\w+) of at most (\d+) it fits\./.exec(error.message) ?? [];
    expect(named).toBe(field);
    expect(Number(most)).toBe(error.max_tokens);
    expect((await ask({ [field]: Number(most) })).status).toBe(200);
  });
});

const VIDEO = { model: 'vid-omni', prompt: 'a cat', seconds: '10', size: '1280x720' };
const SONG = { model: 'song-lyrics', prompt: 'rain' };
const CALLS: [string, object][] = [
  ...PAID_ENDPOINTS.map(({ path, body }): [string, object] => [path, body('')]),
  ['/v1/videos', VIDEO],
  ['/v1/music/generations', SONG],
];
/** Of recordings nothing is known before their download. */
const PRICED = CALLS.filter(([, body]) => !('audio_url' in body)).map(
  // A short text for search costs the one micro-USD that the account has.
  ([path, body]): [string, object] => [
    path,
    path === '/v1/embeddings' ? { ...body, input: 'rain '.repeat(100) } : body,
  ],
);

describe('a 402', () => {
  it.each(PRICED)('of %s tells what is needed and what is available', async (path, body) => {
    const { headers } = await gateway.account(1n);
    const answer = await postJson(`${gateway.url}${path}`, headers, body);
    const error = errorOf(answer);
    expect(answer.status).toBe(402);
    expect(error.available_microusd).toBe('1');
    expect(error.needed_microusd).toMatch(/^[1-9]\d*$/);
    expect(error.message).toContain(`${error.needed_microusd} micro-USD, and 1 micro-USD`);
  });
});

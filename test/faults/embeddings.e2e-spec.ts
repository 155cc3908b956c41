import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import {
  EmbeddingUpstreamHarness,
  item,
  vendorAnswer,
} from '../support/embedding-upstream-harness.js';
import type { TestAccount } from '../support/gateway.js';
import { type Answer, errorOf } from '../support/http-answer.js';
import { base64Of, type EmbeddingsAnswer, vectorsOf } from '../support/paid-embeddings.js';

const UPSTREAM_TIMEOUT_MS = 1_500;
const [ONE, TWO] = [base64Of([1, 2, 3]), base64Of([4, 5, 6])];

let harness: EmbeddingUpstreamHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await EmbeddingUpstreamHarness.start({
    UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS),
  });
});
/** Good calls between the bad ones keep the circuit breaker closed. */
beforeEach(async () => {
  account = await harness.gateway.account();
  answers(vendorAnswer());
  for (let good = 0; good < 3; good++) vectorsOf(await harness.embed(account));
  harness.upstream.seen.length = 0;
  harness.backup.seen.length = 0;
});
afterAll(() => harness.stop());

function answers(body: string | Buffer, status = 200): void {
  harness.upstream.reply = (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

/** One request to the first provider and none to the second, no charge, nothing held. */
async function expectFree(
  call: () => Promise<Answer>,
  code = 'provider_http_error',
): Promise<void> {
  const before = await harness.gateway.balance(account.accountId);
  expect(errorOf(await call()).code).toBe(code);
  expect(await harness.gateway.balance(account.accountId)).toEqual(before);
  expect([harness.upstream.seen.length, harness.backup.seen.length]).toEqual([1, 0]);
}

describe('an answer with', () => {
  it.each<[string, unknown]>([
    ['no vectors', []],
    ['fewer vectors', [item(0, ONE)]],
    ['more vectors', [item(0, ONE), item(1, TWO), item(2, TWO)]],
    ['one place twice', [item(0, ONE), item(0, TWO)]],
    ['a place beyond the inputs', [item(0, ONE), item(2, TWO)]],
    ['a place that is none', [item(0, ONE), { ...item(0, TWO), index: '1' }]],
    ['vectors of two lengths', [item(0, ONE), item(1, base64Of([1]))]],
    ['an empty vector', [item(0, ''), item(1, '')]],
    ['no vector at a place', [item(0, ONE), { index: 1 }]],
    ['NaN in base64', [item(0, ONE), item(1, base64Of([1, Number.NaN, 3]))]],
    ['an infinite number', [item(0, ONE), item(1, base64Of([1, Infinity, 3]))]],
    ['null among numbers', [item(0, [1, 2, 3]), item(1, [1, null, 3])]],
    ['texts for numbers', [item(0, [1, 2, 3]), item(1, ['1', '2', '3'])]],
    ['half a number', [item(0, ONE), item(1, `${TWO.slice(0, -4)}AA==`)]],
    ['foreign characters', [item(0, ONE), item(1, TWO.replace(/.$/, '*'))]],
    ['null for an item', [item(0, ONE), null]],
    ['an object for the list', { 0: ONE, 1: TWO }],
  ])('%s is a failure of the provider', async (_what, data) => {
    answers(vendorAnswer(data));
    await expectFree(() => harness.embed(account));
  });

  it.each<[string, string]>([
    ['no JSON', '<html>'],
    [
      'NaN among numbers',
      '{"data":[{"index":0,"embedding":[1,NaN]},{"index":1,"embedding":[1,2]}]}',
    ],
    ['half of its JSON', vendorAnswer().slice(0, -20)],
    ['JSON of no meaning', '{}'],
    ['an error', JSON.stringify({ error: { message: 'secret words', code: 'internal' } })],
    ['deep lists', '['.repeat(50_000)],
  ])('%s is a failure of the provider', async (_what, body) => {
    answers(body);
    await expectFree(() => harness.embed(account));
  });

  it.each([
    [{ dimensions: 2 }, 3],
    [{ dimensions: 4 }, 3],
    [{}, 5],
    [{}, 1],
  ])('a length that %j does not have is a failure', async (fields, length) => {
    const vector = base64Of(Array.from({ length }, () => 1));
    answers(vendorAnswer([item(0, vector), item(1, vector)]));
    await expectFree(() => harness.embed(account, { model: 'gen-embed-short', ...fields }));
  });

  it('numbers is converted to base64, and the other way round', async () => {
    const numbers = [
      [0.1, -2.5e-7, 3],
      [1, 0, -1],
    ];
    answers(vendorAnswer(numbers.map((vector, index) => item(index, vector))));
    expect(vectorsOf(await harness.embed(account))).toEqual(numbers);
    const bytes = await harness.embed(account, { encoding_format: 'base64' });
    expect(vectorsOf(bytes)).toEqual(numbers.map((vector) => [...Float32Array.from(vector)]));
    answers(vendorAnswer([item(1, TWO), item(0, ONE)]));
    expect(vectorsOf(await harness.embed(account))).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  it('more tokens than bytes is charged what is held', async () => {
    const usage = { prompt_tokens: 1_000, total_tokens: 1_000 };
    answers(vendorAnswer(undefined, { usage }));
    const answer = await harness.embed(account);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe('4');
    expect((answer.json as EmbeddingsAnswer).usage).toMatchObject({ cost_microusd: 4 });
  });

  it.each([[{}], [{ usage: null }], [{ usage: { prompt_tokens: -1, total_tokens: 1.5 } }]])(
    'usage %j is counted here',
    async (more) => {
      answers(vendorAnswer(undefined, { usage: undefined, ...more }));
      const answer = await harness.embed(account);
      expect((answer.json as EmbeddingsAnswer).usage.prompt_tokens).toBe(2);
      expect(answer.headers.get('x-gateway-charge-microusd')).toBe('2');
    },
  );
});

describe('an answer that', () => {
  it('is cut is a failure, and is not asked for again', async () => {
    harness.upstream.reply = async (response) => {
      response.write(vendorAnswer().slice(0, 60));
      await sleep(50);
      response.destroy();
    };
    await expectFree(() => harness.embed(account));
  });

  it('stops in the middle is given up', async () => {
    harness.upstream.reply = (response) => response.write('{"data":[');
    await expectFree(() => harness.embed(account), 'provider_timeout');
  });

  it('ends after more white space, numbers or vectors than any answer has is closed', async () => {
    for (const piece of [' ', '0.5,', '[1],', `"${'A'.repeat(4_000)}",`]) {
      harness.upstream.seen.length = 0;
      const opened = piece.startsWith('0') ? '{"data":[' : '{"data":[1,';
      harness.upstream.reply = (response) => void pourWithoutEnd(response, opened, piece);
      await expectFree(() => harness.embed(account));
    }
  });

  it('arrives slowly is waited for', async () => {
    const vector = base64Of(Array.from({ length: 64 }, () => 0.5));
    const data = Array.from({ length: 2_048 }, (_item, index) => item(index, vector));
    const body = vendorAnswer(data);
    harness.upstream.reply = async (response) => {
      const size = Math.ceil(body.length / 40);
      for (let at = 0; at < body.length; at += size) {
        response.write(body.slice(at, at + size));
        await sleep(50);
      }
      response.end();
    };
    const input = Array.from({ length: 2_048 }, () => 'a');
    expect(vectorsOf(await harness.embed(account, { input }))).toHaveLength(2_048);
  });
});

describe('a request', () => {
  it.each([429, 503, 401, 404])(
    'that is refused with %i goes to the next route',
    async (status) => {
      answers('{}', status);
      harness.backup.reply = (response) => response.end(vendorAnswer());
      const answer = await harness.embed(account);
      expect(vectorsOf(answer)).toHaveLength(2);
      expect(JSON.parse(harness.backup.seen.at(-1)!.body.toString())).toMatchObject({
        model: 'vendor-second',
      });
      expect((answer.json as EmbeddingsAnswer).model).toBe('gen-embed-x');
    },
  );

  it.each([400, 500])('that is answered with %i goes to no other route', async (status) => {
    answers('{}', status);
    const code = status === 400 ? 'provider_rejected_request' : 'provider_http_error';
    await expectFree(() => harness.embed(account), code);
  });

  it('has at most as many inputs as the model takes', async () => {
    const input = ['a', 'b', 'c'];
    const answer = await harness.embed(account, { model: 'gen-embed-short', input });
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param: 'input' });
    const length = await harness.embed(account, { dimensions: 2 });
    expect(errorOf(length)).toMatchObject({ code: 'invalid_request', param: 'dimensions' });
  });
});

/** Writes until the gateway closes the connection. */
async function pourWithoutEnd(
  response: ServerResponse,
  begin: string,
  piece: string,
): Promise<void> {
  response.write(begin);
  const block = piece.repeat(Math.ceil(65_536 / piece.length));
  while (!response.destroyed) {
    if (response.write(block)) await sleep(0);
    else await Promise.race([new Promise((drained) => response.once('drain', drained)), sleep(20)]);
  }
}

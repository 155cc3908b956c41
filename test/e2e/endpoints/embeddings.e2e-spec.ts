import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import {
  embed,
  EMBED,
  EMBEDDINGS_PATH,
  type EmbeddingsAnswer,
  vectorsOf,
} from '../../support/paid-embeddings.js';
import { expectRefused } from '../../support/refusal.js';

const CREDIT = 1_000_000n;
const TEXTS = ['A lighthouse at night', 'A lighthouse by day', 'Invoices are due'];

let gateway: TestGateway;
let headers: Record<string, string>;
let accountId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ headers, accountId } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const refused = (fields: object, param: string) =>
  expectRefused(gateway, accountId, () => embed(gateway, headers, fields), {
    status: 400,
    code: 'invalid_request',
    param,
  });
const cosine = (a: number[] = [], b: number[] = []): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
const upstreamBody = async (): Promise<Record<string, unknown>> => {
  const [request] = await gateway.upstreamRequests();
  return request!.body as Record<string, unknown>;
};

describe('POST /v1/embeddings', () => {
  it('answers a vector for each text, charged together by their tokens', async () => {
    const account = await gateway.account(CREDIT);
    const answer = await embed(gateway, account.headers, { input: TEXTS });
    const [night, day, invoices] = vectorsOf(answer);
    expect(night).toHaveLength(1_536);
    expect(cosine(night, day)).toBeGreaterThan(cosine(night, invoices));
    const { model, usage, data } = answer.json as EmbeddingsAnswer;
    const tokens = usage.prompt_tokens!;
    const charge = Math.ceil((tokens * 20_000) / 1_000_000);
    expect(usage).toEqual({
      prompt_tokens: tokens,
      total_tokens: tokens,
      cost: charge / 1_000_000,
      cost_microusd: charge,
    });
    expect({ model, kinds: data.map(({ object }) => object) }).toEqual({
      model: EMBED.model,
      kinds: ['embedding', 'embedding', 'embedding'],
    });
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(String(charge));
    expect(await gateway.balance(account.accountId)).toMatchObject({
      available: CREDIT - BigInt(charge),
      held: 0n,
    });
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    const view = await send(`${gateway.url}/v1/executions/${id}`, { headers: account.headers });
    expect(view.json).toMatchObject({
      status: 'succeeded',
      model: EMBED.model,
      endpoint: EMBEDDINGS_PATH,
      unit: 'token',
      quantity: { prompt_tokens: tokens },
      charged_microusd: String(charge),
      lines: [{ unit: 'input', quantity: tokens }],
    });
  });

  it('answers the same vectors in base64', async () => {
    const numbers = await embed(gateway, headers, { input: TEXTS });
    const bytes = await embed(gateway, headers, { input: TEXTS, encoding_format: 'base64' });
    expect(vectorsOf(bytes)).toEqual(vectorsOf(numbers));
    const [item] = (bytes.json as EmbeddingsAnswer).data;
    expect(typeof item!.embedding).toBe('string');
  });

  it('makes vectors as long as the caller wants', async () => {
    const [vector] = vectorsOf(await embed(gateway, headers, { dimensions: 7 }));
    expect(vector).toHaveLength(7);
    expect(await upstreamBody()).toEqual({
      model: 'embed-demo',
      input: [EMBED.input],
      encoding_format: 'base64',
      dimensions: 7,
    });
  });

  it.each<[string, unknown, unknown]>([
    ['the token ids of a text', [1, 2, 3], [[1, 2, 3]]],
    ['token ids of several', [[1], [2, 3]], [[1], [2, 3]]],
    ['white space', ' ', [' ']],
  ])('takes %s', async (_what, input, sent) => {
    const answer = await embed(gateway, headers, { input, user: 'me' });
    expect(vectorsOf(answer)).toHaveLength((sent as unknown[]).length);
    expect(await upstreamBody()).toMatchObject({ input: sent, user: 'me' });
  });

  it('takes 2,048 inputs of 300,000 token ids in all', async () => {
    const account = await gateway.account(CREDIT);
    const input = Array.from({ length: 2_048 }, (_, index) =>
      Array.from({ length: index < 992 ? 147 : 146 }, (_id, at) => at),
    );
    const answer = await embed(gateway, account.headers, { input, dimensions: 2 });
    expect(vectorsOf(answer)).toHaveLength(2_048);
    expect(await gateway.balance(account.accountId)).toMatchObject({ available: CREDIT - 6_000n });
  });

  it.each(['no-usage', 'zero-usage'])(
    'counts the tokens itself where the provider says %s',
    async (word) => {
      const input = `[[sandbox:${word}]] ${'lighthouse '.repeat(200)}`;
      const answer = await embed(gateway, headers, { input });
      const { usage } = answer.json as EmbeddingsAnswer;
      expect(usage.prompt_tokens).toBeGreaterThan(200);
      expect(usage.prompt_tokens).toBeLessThan(Buffer.byteLength(input));
    },
  );

  it('holds a token for each byte, and takes a balance of exactly that', async () => {
    const input = 'é'.repeat(1_000);
    const poor = await gateway.account(39n);
    await expectRefused(gateway, poor.accountId, () => embed(gateway, poor.headers, { input }), {
      status: 402,
      code: 'insufficient_user_quota',
    });
    const exact = await gateway.account(40n);
    vectorsOf(await embed(gateway, exact.headers, { input }));
  });

  it('is quoted by what is held, and not by what is charged', async () => {
    const body = { ...EMBED, input: 'é'.repeat(5_000) };
    const quote = async (of: object) =>
      (await postJson(`${gateway.url}/v1/quotes`, headers, { path: EMBEDDINGS_PATH, body: of }))
        .json;
    expect(await quote(body)).toMatchObject({
      model: EMBED.model,
      hold_microusd: '200',
      charge_microusd: null,
      lines: [{ unit: 'input', quantity: 10_000, unit_price_microusd: '20000', per: 1_000_000 }],
      fits: true,
      unchecked: ['tokens'],
    });
    expect(await quote({ ...EMBED })).toMatchObject({ hold_microusd: '1', unchecked: [] });
    expect(await quote({ ...EMBED, input: [''] })).toMatchObject({
      error: { code: 'invalid_request', param: 'input.0' },
    });
  });

  it('is in the list of models, with its price and its bounds', async () => {
    const { json } = await send(`${gateway.url}/v1/models/${EMBED.model}`, { headers });
    expect(json).toMatchObject({
      supported_endpoint_types: ['embeddings'],
      context_length: 8_192,
      architecture: { modality: 'text->embeddings' },
      pricing: { prompt: '0.00000002', completion: '0' },
      endpoint: EMBEDDINGS_PATH,
      limits: { dimensions: { min: 1, max: 1_536 }, max_input_tokens: 8_192, max_inputs: 2_048 },
      parameters: ['model', 'input', 'encoding_format', 'dimensions', 'user'],
    });
    expect((json as { price: unknown }).price).toEqual({
      unit: 'token',
      input_per_million: '20000',
    });
  });

  it('counts its tokens in usage', async () => {
    const account = await gateway.account(CREDIT);
    const answer = await embed(gateway, account.headers);
    const { usage } = answer.json as EmbeddingsAnswer;
    const { json } = await send(`${gateway.url}/v1/usage`, { headers: account.headers });
    expect((json as { data: unknown[] }).data).toMatchObject([
      { calls: 1, input_tokens: usage.prompt_tokens, output_tokens: 0, cached_tokens: 0 },
    ]);
  });
});

describe('bad fields', () => {
  it.each<[unknown, string]>([
    [undefined, 'input'],
    [null, 'input'],
    [5, 'input'],
    ['', 'input'],
    [[], 'input'],
    [[''], 'input.0'],
    [['a', 'b', ''], 'input.2'],
    [['a', [1]], 'input.1'],
    [['a', null], 'input.1'],
    [[null], 'input.0'],
    [[[1], 'a'], 'input.1'],
    [[[1], []], 'input.1'],
    [[[1], [2, -1]], 'input.1.1'],
    [[1, 2.5], 'input.1'],
    [[1, 'a'], 'input.1'],
    [['a', 'b\u0000'], 'input.1'],
    [['\ud800'], 'input.0'],
    [Array.from({ length: 2_049 }, () => 'a'), 'input'],
  ])('refuses input %j, naming it', (input, param) =>
    refused({ input }, param).then(() => undefined),
  );

  it.each<[string, unknown]>([
    ['dimensions', 0],
    ['dimensions', 1_537],
    ['dimensions', 1.5],
    ['encoding_format', 'int8'],
    ['user', 5],
    ['n', 1],
  ])('refuses %s %j', (name, value) => refused({ [name]: value }, name).then(() => undefined));

  it('refuses the input that has more tokens than the model takes, and others of as many bytes not', async () => {
    const ids = Array.from({ length: 8_193 }, () => 1);
    await refused({ input: [[1], ids] }, 'input.1');
    await refused({ input: ['short', 'a b '.repeat(5_000)] }, 'input.1');
    vectorsOf(await embed(gateway, headers, { input: ' lighthouse'.repeat(1_000) }));
  });

  it('refuses more than 300,000 tokens in all', async () => {
    const ids = Array.from({ length: 8_000 }, () => 1);
    await refused({ input: Array.from({ length: 38 }, () => ids) }, 'input');
    const text = 'a b c d '.repeat(2_000);
    await refused({ input: Array.from({ length: 40 }, () => text) }, 'input');
  });

  it('refuses a model of another kind, and one that does not exist', async () => {
    for (const [model, status] of [
      ['gen-5', 400],
      ['gen-embed-9', 404],
    ] as const) {
      await expectRefused(gateway, accountId, () => embed(gateway, headers, { model }), {
        status,
        code: 'model_not_found',
        param: 'model',
      });
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { PRICED_ROWS } from '../../support/priced-rows.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let upstream: StubUpstream;
let gateway: TestGateway;
const operator = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };

beforeAll(async () => {
  upstream = await StubUpstream.start();
  const [vendor] = PRICED_ROWS.providers;
  const providers = [{ ...vendor, base_url: `${upstream.url}/v1` }];
  const file = join(mkdtempSync(join(tmpdir(), 'lines-')), 'catalog.json');
  writeFileSync(file, JSON.stringify({ ...PRICED_ROWS, providers }));
  gateway = await startTestGateway({ CATALOG_FILE: file });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await upstream.stop();
});

const line = (unit: string, quantity: number, price: number, amount: string, per = 1_000_000) => ({
  unit,
  quantity,
  unit_price_microusd: `${price}`,
  per,
  amount_microusd: amount,
});

function replyWith(usage: object): void {
  upstream.reply = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: 'Yes' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.end(JSON.stringify({ object: 'chat.completion', choices, usage }));
  };
}

/** A chat that the vendor answers with this usage; its record for the operator and for its holder is the same. */
async function chatWith(usage: object, words = 'Hello') {
  replyWith(usage);
  const account = await gateway.account();
  const messages = [{ role: 'user', content: words }];
  const answer = await postJson(`${gateway.url}/v1/chat/completions`, account.headers, {
    model: 'tiered',
    messages,
    max_tokens: 500,
  });
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  const path = `executions/${answer.headers.get('x-gateway-execution-id') ?? ''}`;
  const own = await send(`${gateway.url}/v1/${path}`, { headers: account.headers });
  const admin = await send(`${gateway.url}/admin/${path}`, operator);
  const { lines } = own.json as { lines: unknown };
  expect(admin.json).toMatchObject({ lines });
  return { record: own.json as object, usage: (answer.json as { usage: object }).usage };
}

describe('the lines of a chat', () => {
  it('have cached input and both cache writes at their own prices, and one without a price at its parent’s (G-23, G-30)', async () => {
    const { record, usage } = await chatWith(
      {
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 918,
        cache_read_input_tokens: 800,
        cache_creation_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
      },
      'x'.repeat(900),
    );
    expect(record).toMatchObject({
      charged_microusd: '753',
      capped: false,
      unit: 'token',
      quantity: {
        prompt_tokens: 911,
        cached_tokens: 800,
        completion_tokens: 7,
        reasoning_tokens: null,
      },
      unit_price_microusd: { input_per_million: '3000000', output_per_million: '15000000' },
      lines: [
        line('input', 11, 3_000_000, '33'),
        line('cached_input', 800, 300_000, '240'),
        line('cache_write', 60, 3_750_000, '225'),
        line('cache_write_1h', 40, 3_750_000, '150'),
        line('output', 7, 15_000_000, '105'),
      ],
    });
    expect(usage).toMatchObject({ cost: 0.000753, cost_microusd: 753 });
  });

  it('are all in the tier that the prompt exceeds, cached tokens included; a line that the tier lacks keeps its base price', async () => {
    const at = await chatWith(
      {
        prompt_tokens: 10_000,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 9_999 },
      },
      'x'.repeat(10_001),
    );
    expect(at.record).toMatchObject({
      charged_microusd: '3018',
      lines: [
        line('input', 1, 3_000_000, '3'),
        line('cached_input', 9_999, 300_000, '2999.7'),
        line('output', 1, 15_000_000, '15'),
      ],
    });
    const above = await chatWith(
      {
        prompt_tokens: 10_001,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 9_990, cache_write_tokens: 10 },
      },
      'x'.repeat(10_001),
    );
    expect(above.record).toMatchObject({
      charged_microusd: '6060',
      unit_price_microusd: { input_per_million: '6000000', output_per_million: '22500000' },
      lines: [
        line('input', 1, 6_000_000, '6'),
        line('cached_input', 9_990, 600_000, '5994'),
        line('cache_write', 10, 3_750_000, '37.5'),
        line('output', 1, 22_500_000, '22.5'),
      ],
    });
  });

  it('give what was due where the hold bounds the charge', async () => {
    const { record } = await chatWith({ prompt_tokens: 9_000, completion_tokens: 500 });
    const { held_microusd: held } = record as { held_microusd: string };
    expect(record).toMatchObject({
      charged_microusd: held,
      capped: true,
      lines: [line('input', 9_000, 3_000_000, '27000'), line('output', 500, 15_000_000, '7500')],
    });
    expect(Number(held)).toBeLessThan(34_500);
  });
});

describe('the lines of everything else', () => {
  it('are one line: an image by the quality of its row and its size', async () => {
    upstream.reply = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ created: 1, data: [{ b64_json: PNG }] }));
    };
    const { headers } = await gateway.account();
    const body = { model: 'gen-image-2', prompt: 'A cat' };
    const paint = (more: object) =>
      postJson(`${gateway.url}/v1/images/generations`, headers, { ...body, ...more });
    const [square, automatic] = [await paint({ size: '1024x1024' }), await paint({})];
    const linesOf = async (answer: typeof square) => {
      const id = answer.headers.get('x-gateway-execution-id') ?? '';
      const { json } = await send(`${gateway.url}/v1/executions/${id}`, { headers });
      return (json as { lines: unknown }).lines;
    };
    expect(await linesOf(square)).toEqual([line('image', 1, 167_000, '167000', 1)]);
    expect(await linesOf(automatic)).toEqual([line('image', 1, 60_000, '60000', 1)]);
    expect(upstream.seen.at(-1)?.body.toString()).toContain('"quality":"high"');
  });

  it('a video by the second, as the constants of its row choose', async () => {
    const { headers } = await gateway.account();
    const body = { model: 'vid-motion', prompt: 'Sea [[sandbox:task-ms=1]]', seconds: '10' };
    const answer = await postJson(`${gateway.url}/v1/videos`, headers, body);
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
    const { id } = answer.json as { id: string };
    const task = () => send(`${gateway.url}/admin/tasks/${id}`, operator);
    await until(async () => /"(completed|failed)"/.test((await task()).bytes.toString()));
    expect((await task()).json).toMatchObject({
      unit: 'second',
      quantity: 10,
      unit_price_microusd: '70000',
      lines: [line('second', 10, 70_000, '700000', 1)],
    });
  });

  it('speech by the code point; a failed call has none', async () => {
    const { headers } = await gateway.account();
    const speak = async (input: string) => {
      const body = { model: 'aud-v4', input, voice: 'Sarah' };
      const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, body);
      const id = answer.headers.get('x-gateway-execution-id') ?? '';
      const { json } = await send(`${gateway.url}/v1/executions/${id}`, { headers });
      return (json as { lines: unknown }).lines;
    };
    expect(await speak('Hello')).toEqual([line('code_point', 5, 120, '600', 1)]);
    expect(await speak('[[sandbox:status=422]]')).toBe(null);
  });
});

describe('the list of models', () => {
  it('shows the lines, the tiers and what the constants of a row choose', async () => {
    const { headers } = await gateway.account();
    const read = async (id: string) =>
      (await send(`${gateway.url}/v1/models/${id}`, { headers })).json;
    expect(await read('tiered')).toMatchObject({
      price: {
        unit: 'token',
        input_per_million: '3000000',
        cached_input_per_million: '300000',
        cache_write_per_million: '3750000',
        output_per_million: '15000000',
        tiers: [
          {
            above_input_tokens: 10_000,
            input_per_million: '6000000',
            cached_input_per_million: '600000',
            output_per_million: '22500000',
          },
        ],
      },
      pricing: {
        prompt: '0.000003',
        completion: '0.000015',
        input_cache_read: '0.0000003',
        input_cache_write: '0.00000375',
      },
    });
    expect(await read('gen-image-2')).toMatchObject({
      price: {
        unit: 'image',
        amount_microusd: '60000',
        by_quality_size: [{ quality: 'high', size: '1024x1024', amount_microusd: '167000' }],
      },
    });
    expect(await read('vid-motion')).toMatchObject({
      price: {
        unit: 'second',
        amount_microusd: '70000',
        by_seconds: { '5': '350000', '10': '700000' },
      },
    });
    expect(await read('gen-5')).toMatchObject({ price: { cached_input_per_million: '125000' } });
  });
});

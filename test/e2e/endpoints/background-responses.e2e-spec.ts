import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { JsonObject } from '../../../src/common/json-object.js';
import { chunk, event, streams } from '../../support/chat-upstream-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

interface Made extends JsonObject {
  readonly id: string;
  readonly status: string;
  readonly usage: { input_tokens: number; output_tokens: number; cost_microusd: number } | null;
  readonly billing?: { charged_microusd: string; held_microusd: string; execution_id: string };
}

const SECRET = 'a-secret-of-webhooks';
const DONE = chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = chunk('', {
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
});
const COMPLETION = {
  ...chunk(''),
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
};
const WHOLE = streams(
  event(chunk('Hello ')),
  event(chunk('there')),
  event(DONE),
  event(USAGE),
  'data: [DONE]\n\n',
);

let upstream: StubUpstream;
let hooks: WebhookReceiver;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  [upstream, hooks] = await Promise.all([StubUpstream.start(), startWebhookReceiver()]);
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    TASK_TICK_MS: '50',
    ...hooks.settings,
  });
  account = await gateway.account();
});
beforeEach(() => {
  upstream.reply = WHOLE;
  upstream.seen.length = 0;
  upstream.aborted = 0;
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await Promise.all([upstream.stop(), hooks.stop()]);
});

const url = (path = '') => `${gateway.url}/v1/responses${path}`;
const post = (fields: object, more: object = {}): Promise<Answer> =>
  postJson(
    url(),
    { ...account.headers, ...more },
    {
      model: 'gen-4-mini',
      input: 'Say hello',
      background: true,
      ...fields,
    },
  );
const read = async (id: string): Promise<Made> =>
  (await send(url(`/${id}`), { headers: account.headers })).json as Made;
const cancel = (id: string) => postJson(url(`/${id}/cancel`), account.headers, {});
const taskOf = async (id: string): Promise<JsonObject> => {
  const path = `${gateway.url}/v1/tasks/${id.replace('resp_', 'task_')}`;
  return (await send(path, { headers: account.headers })).json as JsonObject;
};

/** A response that is accepted, as it was answered. */
async function made(fields: object = {}, more: object = {}): Promise<Made> {
  const answer = await post(fields, more);
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  return answer.json as Made;
}

/** The response at its end. */
async function ended(id: string): Promise<Made> {
  let response = await read(id);
  await until(async () => {
    response = await read(id);
    return response.status !== 'queued' && response.status !== 'in_progress';
  });
  return response;
}

/** A reply that begins and waits until its client leaves. */
const begins = streamsAndWaits(event(chunk('Hello there, this is ')));
function streamsAndWaits(...pieces: string[]): StubUpstream['reply'] {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) response.write(piece);
  };
}

describe('POST /v1/responses with background', () => {
  it('answers queued at once, and completed with usage and charge when it is read later', async () => {
    const answer = await post({ metadata: { job: '7' }, instructions: 'Be short' });
    const response = answer.json as Made;
    expect(answer.status).toBe(200);
    expect(response).toMatchObject({
      object: 'response',
      status: 'queued',
      background: true,
      store: true,
      output: [],
      usage: null,
      completed_at: null,
      metadata: { job: '7' },
      instructions: 'Be short',
    });
    expect(answer.headers.get('x-gateway-task-id')).toBe(response.id.replace('resp_', 'task_'));
    const whole = await ended(response.id);
    expect(whole).toMatchObject({
      id: response.id,
      created_at: response.created_at,
      status: 'completed',
      background: true,
      model: 'gen-4-mini',
      metadata: { job: '7' },
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello there' }] }],
      usage: { input_tokens: 12, output_tokens: 5 },
      billing: { execution_id: response.id.replace('resp_', 'task_') },
    });
    // 12 tokens at 0.40 and 5 at 1.60 USD per million.
    expect(whole.usage?.cost_microusd).toBe(13);
    expect(whole.billing?.charged_microusd).toBe('13');
  });

  it('is a task of modality text, whose charge counts by its tokens in usage', async () => {
    const { id } = await made();
    await ended(id);
    expect(await taskOf(id)).toMatchObject({
      object: 'task',
      status: 'succeeded',
      modality: 'text',
      model: 'gen-4-mini',
      charged_microusd: '13',
      result: { response_id: id, status: 'completed' },
    });
    const list = await send(`${gateway.url}/v1/tasks?modality=text`, { headers: account.headers });
    expect((list.json as { data: JsonObject[] }).data.map((task) => task.id)).toContain(
      id.replace('resp_', 'task_'),
    );
    const rows = await gateway.dataSource.query<JsonObject[]>(
      `SELECT endpoint, quantity::int, input_tokens::int, output_tokens::int, charged::int FROM usage_call
        WHERE id = $1`,
      [id.replace('resp_', '')],
    );
    expect(rows).toEqual([
      { endpoint: '/v1/responses', quantity: 17, input_tokens: 12, output_tokens: 5, charged: 13 },
    ]);
  });

  it('is continued by previous_response_id, and is gone after DELETE', async () => {
    const { id } = await made();
    await ended(id);
    const next = await made({ input: 'And again', previous_response_id: id });
    await ended(next.id);
    const messages = (
      JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '') as {
        messages: { content: unknown }[];
      }
    ).messages;
    expect(JSON.stringify(messages)).toContain('Hello there');
    const items = await send(url(`/${next.id}/input_items?order=asc`), {
      headers: account.headers,
    });
    expect((items.json as { data: unknown[] }).data).toHaveLength(3);
    await send(url(`/${id}`), { method: 'DELETE', headers: account.headers });
    expect((await send(url(`/${id}`), { headers: account.headers })).status).toBe(404);
  });

  it('keeps no word of what was said unsealed', async () => {
    const { id } = await made({ input: 'a hidden word', instructions: 'a hidden rule' });
    await ended(id);
    const [row] = await gateway.dataSource.query<JsonObject[]>('SELECT * FROM task WHERE id = $1', [
      id.replace('resp_', ''),
    ]);
    expect(JSON.stringify(row)).not.toMatch(/hidden|Hello there/);
  });

  it('holds what fits where no cap is given, and says so', async () => {
    const poor = await gateway.account(40_000n);
    const answer = await postJson(url(), poor.headers, {
      model: 'gen-4-mini',
      input: 'Say hello',
      background: true,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-output-cap-reason')).toBe('balance');
    const cap = Number(answer.headers.get('x-gateway-output-cap'));
    await until(() => upstream.seen.length > 0);
    const sent = JSON.parse(upstream.only.body.toString()) as JsonObject;
    expect(sent.max_completion_tokens ?? sent.max_tokens).toBe(cap);
    const { id } = answer.json as Made;
    await until(async () => {
      const now = await send(url(`/${id}`), { headers: poor.headers });
      return (now.json as Made).status === 'completed';
    });
    expect(await gateway.balance(poor.accountId)).toMatchObject({ held: 0n });
  });

  it('is one response for one Idempotency-Key and body', async () => {
    const key = { 'idempotency-key': 'once' };
    const [one, two] = await Promise.all([made({}, key), made({}, key)]);
    expect(two.id).toBe(one.id);
    await ended(one.id);
    expect(await made({}, key)).toMatchObject({ id: one.id, status: 'completed' });
    expect(errorOf(await post({ input: 'other' }, key)).code).toBe('idempotency_conflict');
    expect(upstream.seen).toHaveLength(1);
  });

  it('has a quote, which holds what the call would hold', async () => {
    const body = {
      model: 'gen-4-mini',
      input: 'Say hello',
      background: true,
      max_output_tokens: 100,
    };
    const quote = await postJson(`${gateway.url}/v1/quotes`, account.headers, {
      path: '/v1/responses',
      body,
    });
    const response = await made({ max_output_tokens: 100 });
    const { billing } = await ended(response.id);
    expect(quote.json).toMatchObject({ hold_microusd: billing?.held_microusd });
  });
});

describe('the fields of a response in the background', () => {
  it.each([
    [{ stream: true }, 'background'],
    [{ store: false }, 'background'],
    [{ background: false, webhook: 'https://example.com/hook', webhook_secret: SECRET }, 'webhook'],
    [{ background: undefined, webhook_secret: SECRET }, 'webhook_secret'],
    [{ webhook: 'https://example.com/hook' }, 'webhook_secret'],
    [{ webhook_secret: SECRET }, 'webhook_secret'],
    [{ webhook: 'http://127.0.0.1/hook', webhook_secret: SECRET }, 'webhook'],
    [{ webhook: 'https://example.com/hook', webhook_secret: 'short' }, 'webhook_secret'],
    [{ background: 'yes' }, 'background'],
  ])('%j is 400 naming %s', async (fields, param) => {
    const answer = await post(fields);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('the webhook of a response in the background', () => {
  it('is signed, has the response, and neither its URL nor its secret is ever shown', async () => {
    const { id } = await made({ webhook: hooks.url, webhook_secret: SECRET });
    const response = await ended(id);
    await until(() => hooks.received.some(({ body }) => body.toString().includes(id)));
    const delivery = hooks.received.find(({ body }) => body.toString().includes(id));
    expect(JSON.parse(delivery?.body.toString() ?? '')).toEqual(response);
    expect(JSON.stringify(response)).not.toMatch(/webhook|a-secret/);
    const signature = String(delivery?.headers['x-shim-signature']);
    const [, at = '', sum] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    const signed = Buffer.concat([Buffer.from(`${at}.`), delivery?.body ?? Buffer.alloc(0)]);
    expect(sum).toBe(createHmac('sha256', SECRET).update(signed).digest('hex'));
  });
});

describe('POST /v1/responses/{id}/cancel', () => {
  it('ends the work at the provider within seconds and charges what was made', async () => {
    upstream.reply = begins;
    const { id } = await made();
    await until(async () => (await read(id)).status === 'in_progress' && upstream.seen.length > 0);
    await cancel(id);
    await upstream.untilAborted();
    const response = await ended(id);
    expect(response).toMatchObject({
      id,
      status: 'cancelled',
      error: null,
      output: [{ content: [{ text: 'Hello there, this is ' }] }],
    });
    const { usage, billing } = response;
    expect(usage?.output_tokens).toBeGreaterThan(0);
    expect(Number(billing?.charged_microusd)).toBeGreaterThan(0);
    expect((await cancel(id)).json).toEqual(response);
  });

  it('answers a response that has ended as it is, and refuses others', async () => {
    const { id } = await made();
    const response = await ended(id);
    expect((await cancel(id)).json).toEqual(response);
    upstream.reply = (reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify(COMPLETION));
    };
    const other = await made({ background: false });
    expect(errorOf(await cancel(other.id))).toMatchObject({ code: 'invalid_request', param: 'id' });
    expect(errorOf(await cancel(`resp_${'0'.repeat(32)}`)).code).toBe('not_found');
  });

  it('leaves a response that is being made where DELETE finds it', async () => {
    upstream.reply = begins;
    const { id } = await made();
    const gone = await send(url(`/${id}`), { method: 'DELETE', headers: account.headers });
    expect(errorOf(gone).code).toBe('conflict');
    const items = await send(url(`/${id}/input_items`), { headers: account.headers });
    expect(items.json).toMatchObject({ data: [{ content: [{ text: 'Say hello' }] }] });
    await cancel(id);
    expect((await ended(id)).status).toBe('cancelled');
  });
});

describe('a response in the background that fails', () => {
  it('is failed with the hold released where the provider refuses it', async () => {
    upstream.reply = (response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: 'no', type: 'invalid_request_error', code: 'bad' } }),
      );
    };
    const { id } = await made();
    const response = await ended(id);
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_prompt' },
      usage: null,
      output: [],
    });
    expect(await taskOf(id)).toMatchObject({ status: 'failed', charged_microusd: null });
  });

  it('is failed with server_error where the stream breaks, and costs nothing', async () => {
    upstream.reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(chunk('Hello')));
      setTimeout(() => response.destroy(), 50);
    };
    const before = await gateway.balance(account.accountId);
    const { id } = await made();
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(await gateway.balance(account.accountId)).toEqual(before);
  });
});

describe('openai SDK', () => {
  it('creates, retrieves and cancels a response in the background', async () => {
    const client = new OpenAI({
      apiKey: account.headers.authorization?.replace('Bearer ', '') ?? '',
      baseURL: `${gateway.url}/v1`,
      maxRetries: 0,
    });
    const ask = { model: 'gen-4-mini', input: 'Say hello', background: true } as const;
    const { id } = await client.responses.create(ask);
    await ended(id);
    const whole = await client.responses.retrieve(id);
    expect(whole).toMatchObject({ status: 'completed', output_text: 'Hello there' });
    upstream.reply = begins;
    const long = await client.responses.create(ask);
    await until(async () => (await read(long.id)).status === 'in_progress');
    await until(() => upstream.seen.length > 1);
    await client.responses.cancel(long.id);
    await ended(long.id);
    expect((await client.responses.retrieve(long.id)).status).toBe('cancelled');
  });
});

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { ResponseStore } from '../../../src/stored-responses/response-store.js';
import { BackgroundHarness, type StartedResponse } from '../../support/background-harness.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { until } from '../../support/until.js';

const SECRET = 'a-secret-of-webhooks';

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start();
});
beforeEach(() => {
  desk.reset();
});
afterAll(() => desk.stop());

describe('POST /v1/responses with background', () => {
  it('answers queued at once, and completed with usage and charge when it is read later', async () => {
    const answer = await desk.post({ metadata: { job: '7' }, instructions: 'Be short' });
    const response = answer.json as StartedResponse;
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
    const whole = await desk.ended(response.id);
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
    const { id } = await desk.made();
    await desk.ended(id);
    expect(await desk.taskOf(id)).toMatchObject({
      object: 'task',
      status: 'succeeded',
      modality: 'text',
      model: 'gen-4-mini',
      charged_microusd: '13',
      result: { response_id: id, status: 'completed' },
    });
    const list = await send(`${desk.gateway.url}/v1/tasks?modality=text`, {
      headers: desk.account.headers,
    });
    expect((list.json as { data: JsonObject[] }).data.map((task) => task.id)).toContain(
      id.replace('resp_', 'task_'),
    );
    const rows = await desk.gateway.dataSource.query<JsonObject[]>(
      `SELECT endpoint, quantity::int, input_tokens::int, output_tokens::int, charged::int FROM usage_call
        WHERE id = $1`,
      [id.replace('resp_', '')],
    );
    expect(rows).toEqual([
      { endpoint: '/v1/responses', quantity: 17, input_tokens: 12, output_tokens: 5, charged: 13 },
    ]);
  });

  it('is continued by previous_response_id, and is gone after DELETE', async () => {
    const { id } = await desk.made();
    await desk.ended(id);
    const next = await desk.made({ input: 'And again', previous_response_id: id });
    await desk.ended(next.id);
    const messages = (
      JSON.parse(desk.upstream.seen.at(-1)?.body.toString() ?? '') as {
        messages: { content: unknown }[];
      }
    ).messages;
    expect(JSON.stringify(messages)).toContain('Hello there');
    const items = await send(desk.url(`/${next.id}/input_items?order=asc`), {
      headers: desk.account.headers,
    });
    expect((items.json as { data: unknown[] }).data).toHaveLength(3);
    await send(desk.url(`/${id}`), { method: 'DELETE', headers: desk.account.headers });
    expect((await send(desk.url(`/${id}`), { headers: desk.account.headers })).status).toBe(404);
  });

  it('keeps no word of what was said unsealed', async () => {
    const { id } = await desk.made({ input: 'a hidden word', instructions: 'a hidden rule' });
    await desk.ended(id);
    const [row] = await desk.gateway.dataSource.query<JsonObject[]>(
      'SELECT * FROM task WHERE id = $1',
      [id.replace('resp_', '')],
    );
    expect(JSON.stringify(row)).not.toMatch(/hidden|Hello there/);
  });

  it('holds what fits where no cap is given, and says so', async () => {
    const poor = await desk.gateway.account(40_000n);
    const answer = await postJson(desk.url(), poor.headers, {
      model: 'gen-4-mini',
      input: 'Say hello',
      background: true,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-output-cap-reason')).toBe('balance');
    const cap = Number(answer.headers.get('x-gateway-output-cap'));
    await until(() => desk.upstream.seen.length > 0);
    const sent = JSON.parse(desk.upstream.only.body.toString()) as JsonObject;
    expect(sent.max_completion_tokens ?? sent.max_tokens).toBe(cap);
    const { id } = answer.json as StartedResponse;
    await until(async () => {
      const now = await send(desk.url(`/${id}`), { headers: poor.headers });
      return (now.json as StartedResponse).status === 'completed';
    });
    expect(await desk.gateway.balance(poor.accountId)).toMatchObject({ held: 0n });
  });

  it('is one response for one Idempotency-Key and body', async () => {
    const key = { 'idempotency-key': 'once' };
    const [one, two] = await Promise.all([desk.made({}, key), desk.made({}, key)]);
    expect(two.id).toBe(one.id);
    await desk.ended(one.id);
    expect(await desk.made({}, key)).toMatchObject({ id: one.id, status: 'completed' });
    expect(errorOf(await desk.post({ input: 'other' }, key)).code).toBe('idempotency_conflict');
    expect(desk.upstream.seen).toHaveLength(1);
  });

  it('has a quote, which holds what the call would hold', async () => {
    const body = {
      model: 'gen-4-mini',
      input: 'Say hello',
      background: true,
      max_output_tokens: 100,
    };
    const quote = await postJson(`${desk.gateway.url}/v1/quotes`, desk.account.headers, {
      path: '/v1/responses',
      body,
    });
    const response = await desk.made({ max_output_tokens: 100 });
    const { billing } = await desk.ended(response.id);
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
    const answer = await desk.post(fields);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('a response in the background that could not be stored with its settings', () => {
  it('is 413 naming input, and nothing is held', async () => {
    const description = 'x'.repeat(3_500_000);
    const answer = await desk.post({
      tools: [{ type: 'function', name: 'large', description }],
      max_output_tokens: 100,
    });
    expect(errorOf(answer)).toMatchObject({ code: 'request_too_large', param: 'input' });
    expect(answer.status).toBe(413);
    expect(desk.upstream.seen).toHaveLength(0);
  });
});

describe('the webhook of a response in the background', () => {
  it('is signed, has the response, and neither its URL nor its secret is ever shown', async () => {
    const { id } = await desk.made({ webhook: desk.hooks.url, webhook_secret: SECRET });
    const response = await desk.ended(id);
    await until(() => desk.hooks.received.some(({ body }) => body.toString().includes(id)));
    const delivery = desk.hooks.received.find(({ body }) => body.toString().includes(id));
    expect(JSON.parse(delivery?.body.toString() ?? '')).toEqual(response);
    expect(JSON.stringify(response)).not.toMatch(/webhook|a-secret/);
    const signature = String(delivery?.headers['x-shim-signature']);
    const [, at = '', sum] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(signature) ?? [];
    const signed = Buffer.concat([Buffer.from(`${at}.`), delivery?.body ?? Buffer.alloc(0)]);
    expect(sum).toBe(createHmac('sha256', SECRET).update(signed).digest('hex'));
  });

  it('has no content any more once the response is deleted or all is erased', async () => {
    const { gateway, hooks, account } = desk;
    const made = await Promise.all(
      [1, 2].map(() => desk.made({ webhook: hooks.url, webhook_secret: SECRET })),
    );
    await Promise.all(made.map(({ id }) => desk.ended(id)));
    const [deleted, erased] = made.map(({ id }) => id);
    await send(`${gateway.url}/v1/responses/${deleted}`, {
      method: 'DELETE',
      headers: account.headers,
    });
    await gateway.app.get(ResponseStore).erase(account.accountId);
    const told = await gateway.dataSource.query<{ body: string }[]>(
      `SELECT convert_from(body, 'UTF8') AS body FROM webhook_delivery WHERE account_id = $1 AND event IS NULL`,
      [account.accountId],
    );
    const gone = (id = '') => ({ id, object: 'response.deleted', deleted: true });
    const bodies = told.map(({ body }) => JSON.parse(body) as object);
    expect(bodies).toEqual(expect.arrayContaining([gone(deleted), gone(erased)]));
    expect(JSON.stringify(bodies)).not.toContain('Hello');
  });
});

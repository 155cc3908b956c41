import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { fromResponseId } from '../../../src/stored-responses/response-ids.js';
import { ADMIN } from '../../support/admin-harness.js';
import { BackgroundHarness, BEGINS, COMPLETION } from '../../support/background-harness.js';
import { chunk, event } from '../../support/chat-upstream-harness.js';
import { errorOf, send } from '../../support/http-answer.js';
import { until } from '../../support/until.js';

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start();
});
beforeEach(() => {
  desk.reset();
});
afterAll(() => desk.stop());

describe('POST /v1/responses/{id}/cancel', () => {
  it('ends the work at the provider within seconds and charges what was made', async () => {
    desk.upstream.reply = BEGINS;
    const { id } = await desk.made();
    await until(
      async () => (await desk.read(id)).status === 'in_progress' && desk.upstream.seen.length > 0,
    );
    await desk.cancel(id);
    await desk.upstream.untilAborted();
    const response = await desk.ended(id);
    expect(response).toMatchObject({
      id,
      status: 'cancelled',
      error: null,
      output: [{ content: [{ text: 'Hello there, this is ' }] }],
    });
    const { usage, billing } = response;
    expect(usage?.output_tokens).toBeGreaterThan(0);
    expect(Number(billing?.charged_microusd)).toBeGreaterThan(0);
    expect((await desk.cancel(id)).json).toEqual(response);
  });

  it('charges the report that comes after the reason, where it is cancelled between the two (G-24)', async () => {
    const replies: Parameters<typeof BEGINS>[0][] = [];
    const reason = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    desk.upstream.reply = (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(event(chunk('Hello there')) + event(chunk('', reason)));
      replies.push(reply);
    };
    const { id } = await desk.made();
    await until(() => replies.length > 0);
    const cancelled = desk.cancel(id);
    // It is looked for once a second.
    await sleep(1_500);
    const usage = { prompt_tokens: 40, completion_tokens: 30, total_tokens: 70 };
    replies[0]!.end(event(chunk('', { choices: [], usage })));
    await cancelled;
    const { status, usage: told } = await desk.ended(id);
    expect([status, told?.input_tokens, told?.output_tokens]).toEqual(['cancelled', 40, 30]);
  });

  it('answers a response that has ended as it is, and refuses others', async () => {
    const { id } = await desk.made();
    const response = await desk.ended(id);
    expect((await desk.cancel(id)).json).toEqual(response);
    desk.upstream.reply = (reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify(COMPLETION));
    };
    const other = await desk.made({ background: false });
    expect(errorOf(await desk.cancel(other.id))).toMatchObject({
      code: 'invalid_request',
      param: 'id',
    });
    expect(errorOf(await desk.cancel(`resp_${'0'.repeat(32)}`)).code).toBe('not_found');
  });

  it('leaves a response that is being made where DELETE finds it', async () => {
    desk.upstream.reply = BEGINS;
    const { id } = await desk.made();
    const gone = await send(desk.url(`/${id}`), {
      method: 'DELETE',
      headers: desk.account.headers,
    });
    expect(errorOf(gone).code).toBe('conflict');
    const items = await send(desk.url(`/${id}/input_items`), { headers: desk.account.headers });
    expect(items.json).toMatchObject({ data: [{ content: [{ text: 'Say hello' }] }] });
    await desk.cancel(id);
    expect((await desk.ended(id)).status).toBe('cancelled');
  });
});

describe('a response of a model that thinks unseen, cancelled and at its deadline without a report', () => {
  let late: BackgroundHarness;
  beforeAll(async () => {
    late = await BackgroundHarness.start({ TASK_DEADLINE_MS: '8000' });
  });
  afterAll(() => late.stop());

  it('is charged its whole output cap (G-24)', async () => {
    late.upstream.reply = BEGINS;
    const { id } = await late.made({ model: 'gen-5-mini', max_output_tokens: 500 });
    await until(() => late.upstream.seen.length > 0);
    await late.cancel(id);
    const { status, billing, usage } = await late.ended(id);
    expect([status, usage?.output_tokens]).toEqual(['cancelled', 500]);
    expect(Number(billing?.charged_microusd)).toBe(usage?.cost_microusd);
    expect(Number(billing?.charged_microusd)).toBeGreaterThan(0);
    const task = await late.taskOf(id);
    expect(task).toMatchObject({ status: 'succeeded' });
    const record = await send(`${late.gateway.url}/admin/tasks/${String(task.id)}`, {
      headers: ADMIN,
    });
    expect(record.json).toMatchObject({ estimated: true, capped: false });
  });
});

describe('a response in the background that fails', () => {
  it('is failed with the hold released where the provider refuses it', async () => {
    desk.upstream.reply = (response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: 'no', type: 'invalid_request_error', code: 'bad' } }),
      );
    };
    const { id } = await desk.made();
    const response = await desk.ended(id);
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_prompt' },
      usage: null,
      output: [],
    });
    expect(await desk.taskOf(id)).toMatchObject({ status: 'failed', charged_microusd: null });
  });

  it('is made where its provider has moved to meanwhile, after it had no room', async () => {
    desk.upstream.reply = (response) => response.writeHead(503).end();
    const { id } = await desk.made();
    await until(() => desk.upstream.seen.length > 0);
    // As after a restart with another address of the provider, such as that of a new sandbox.
    await desk.gateway.dataSource.query('UPDATE task SET provider_base_url = $2 WHERE id = $1', [
      fromResponseId(id),
      'http://127.0.0.1:9/v1',
    ]);
    desk.reset();
    expect((await desk.ended(id)).status).toBe('completed');
  });

  it('is failed with server_error where the stream breaks, and costs nothing', async () => {
    desk.upstream.reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(chunk('Hello')));
      setTimeout(() => response.destroy(), 50);
    };
    const before = await desk.gateway.balance(desk.account.accountId);
    const { id } = await desk.made();
    expect(await desk.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
    });
    expect(await desk.gateway.balance(desk.account.accountId)).toEqual(before);
  });
});

describe('openai SDK', () => {
  it('creates, retrieves and cancels a response in the background', async () => {
    const client = new OpenAI({
      apiKey: desk.account.key,
      baseURL: `${desk.gateway.url}/v1`,
      maxRetries: 0,
    });
    const ask = { model: 'gen-4-mini', input: 'Say hello', background: true } as const;
    const { id } = await client.responses.create(ask);
    await desk.ended(id);
    const whole = await client.responses.retrieve(id);
    expect(whole).toMatchObject({ status: 'completed', output_text: 'Hello there' });
    desk.upstream.reply = BEGINS;
    const long = await client.responses.create(ask);
    await until(async () => (await desk.read(long.id)).status === 'in_progress');
    await until(() => desk.upstream.seen.length > 1);
    await client.responses.cancel(long.id);
    await desk.ended(long.id);
    expect((await client.responses.retrieve(long.id)).status).toBe('cancelled');
  });
});

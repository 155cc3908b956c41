import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/common/json-object.js';
import { ADMIN } from '../../support/admin-harness.js';
import { BackgroundHarness, type StartedResponse } from '../../support/background-harness.js';
import { chunk, event, streams } from '../../support/chat-upstream-harness.js';
import type { TestAccount } from '../../support/gateway.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';

const DONE = chunk('', { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const CACHED = {
  prompt_tokens: 40,
  completion_tokens: 30,
  total_tokens: 70,
  prompt_tokens_details: { cached_tokens: 16 },
  completion_tokens_details: { reasoning_tokens: 8 },
};
const OVERLAY = {
  providers: [{ id: 'openai', reported_cost: { figure: 'usage.cost', unit: 'usd' } }],
  models: [
    {
      id: 'gen-5-mini',
      routes: [
        {
          provider: 'openai',
          upstream_model: 'gpt-5-mini',
          cost: {
            unit: 'token',
            input_micro_usd_per_million: 1_000_000,
            output_micro_usd_per_million: 5_000_000,
          },
        },
      ],
    },
  ],
};
/** What an execution says of its charge. */
const EXPLANATION = [
  'unit',
  'quantity',
  'unit_price_microusd',
  'lines',
  'estimated',
  'capped',
  'price_book',
  'factor_permille',
  'output_cap',
  'output_cap_reason',
  'run',
];

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start({ CATALOG_FILE: overlay(OVERLAY) });
});
beforeEach(() => {
  desk.reset();
});
afterAll(() => desk.stop());

/** The provider streams "Hello" with this usage. */
function streamsUsage(usage: object): void {
  desk.upstream.reply = streams(
    event(chunk('Hello')),
    event(DONE),
    event(chunk('', { choices: [], usage })),
    'data: [DONE]\n\n',
  );
}

const ask = ({ headers }: TestAccount, fields: object): Promise<Answer> =>
  postJson(desk.url(), headers, { model: 'gen-5-mini', input: 'Say hello', ...fields });

async function adminRecord(path: string): Promise<JsonObject> {
  return (await send(`${desk.gateway.url}/admin/${path}`, { headers: ADMIN })).json as JsonObject;
}

/** The operator's record of a response that is made in the background for this account. */
async function recordOf(account: TestAccount, fields: object): Promise<JsonObject> {
  const answer = await ask(account, { background: true, ...fields });
  expect(answer.status).toBe(200);
  const { id } = answer.json as StartedResponse;
  return endedRecord(account, id.replace('resp_', 'task_'));
}

/** The operator's record of a task, once it has ended. */
async function endedRecord({ headers }: TestAccount, taskId: string): Promise<JsonObject> {
  const url = `${desk.gateway.url}/v1/tasks/${taskId}`;
  await send(url, { headers: { ...headers, prefer: 'wait=20' } });
  return adminRecord(`tasks/${taskId}`);
}

const explanationOf = (record: JsonObject): JsonObject =>
  Object.fromEntries(EXPLANATION.map((field) => [field, record[field]]));

describe('the record of a response in the background', () => {
  it('explains its charge as an execution of the same request does', async () => {
    streamsUsage(CACHED);
    const [one, other] = [await desk.gateway.account(), await desk.gateway.account()];
    const task = await recordOf(one, {});
    const answer = await ask(other, { stream: true });
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    const execution = await adminRecord(`executions/${id}`);
    expect(explanationOf(task)).toEqual(explanationOf(execution));
    expect(task).toMatchObject({
      task_status: 'succeeded',
      unit: 'token',
      quantity: {
        prompt_tokens: 40,
        cached_tokens: 16,
        completion_tokens: 30,
        reasoning_tokens: 8,
      },
      unit_price_microusd: { input_per_million: '250000', output_per_million: '2000000' },
      capped: false,
      estimated: false,
      // 24 at 0.25, 16 at 0.025 and 30 at 2 micro-USD, rounded up once.
      charged_microusd: '67',
    });
  });

  it.each([
    ['balance', 1_000_000n],
    ['model', 100_000_000n],
  ])('names the output cap that the %s bound, as its headers do (G-106)', async (reason, usd) => {
    const account = await desk.gateway.account(usd);
    const answer = await ask(account, { background: true });
    const { id } = answer.json as StartedResponse;
    const cap = Number(answer.headers.get('x-gateway-output-cap'));
    expect(answer.headers.get('x-gateway-output-cap-reason')).toBe(reason);
    expect(await endedRecord(account, id.replace('resp_', 'task_'))).toMatchObject({
      task_status: 'succeeded',
      output_cap: cap,
      output_cap_reason: reason,
    });
    const [sent] = desk.upstream.seen.map(({ body }) => JSON.parse(body.toString()) as JsonObject);
    expect(sent?.max_completion_tokens).toBe(cap);
  });

  it('names the cap that was chosen also where the provider refused it, and none that the caller named', async () => {
    const account = await desk.gateway.account();
    desk.upstream.reply = (response) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: 'no', code: 'bad' } }));
    expect(await recordOf(account, {})).toMatchObject({
      task_status: 'failed',
      output_cap: expect.any(Number),
      output_cap_reason: 'model',
      capped: false,
      estimated: null,
    });
    expect(await recordOf(account, { max_output_tokens: 50 })).toMatchObject({
      task_status: 'failed',
      output_cap: null,
      output_cap_reason: null,
    });
  });

  it('says that the charge was cut at the hold', async () => {
    streamsUsage({ prompt_tokens: 40, completion_tokens: 9_000, total_tokens: 9_040 });
    const record = await recordOf(await desk.gateway.account(), { max_output_tokens: 50 });
    expect(record).toMatchObject({
      capped: true,
      quantity: { completion_tokens: 9_000 },
      lines: [
        { unit: 'input', amount_microusd: '10' },
        { unit: 'output', amount_microusd: '18000' },
      ],
    });
    expect(record.charged_microusd).toBe(record.reserved_microusd);
  });
});

/** The provider streams these events and then closes the connection without an end. */
function breaksAfter(...events: string[]): void {
  desk.upstream.reply = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.join(''));
    setTimeout(() => response.destroy(), 50);
  };
}

describe('the record of a response in the background that broke', () => {
  it('has what was made and its cost by the route, as that of a stream has (G-103)', async () => {
    breaksAfter(event(chunk('some words that were made')));
    const [one, other] = [await desk.gateway.account(), await desk.gateway.account()];
    const task = await recordOf(one, {});
    const answer = await ask(other, { stream: true });
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    const execution = await adminRecord(`executions/${id}`);
    const { quantity } = task.uncharged as { quantity: Record<string, number> };
    const made = (quantity.prompt_tokens ?? 0) + 5 * (quantity.completion_tokens ?? 0);
    expect(quantity.completion_tokens).toBeGreaterThan(0);
    expect(task).toMatchObject({
      task_status: 'failed',
      charged_microusd: null,
      cost_microusd: `${made}`,
      uncharged: execution.uncharged,
    });
    expect(execution).toMatchObject({ status: 'failed', cost_microusd: `${made}` });
    expect((await desk.gateway.balance(one.accountId)).held).toBe(0n);
    const row = await send(`${desk.gateway.url}/v1/tasks/${String(task.id)}`, {
      headers: one.headers,
    });
    expect(row.bytes.toString()).not.toMatch(/uncharged|cost/);
  });

  it("has the provider's own figure where it came before the end", async () => {
    breaksAfter(
      event(chunk('some words')),
      event(chunk('', { choices: [], usage: { ...CACHED, cost: 0.0012 } })),
    );
    expect(await recordOf(await desk.gateway.account(), {})).toMatchObject({
      task_status: 'failed',
      cost_microusd: '1200',
      uncharged: { unit: 'token', quantity: { prompt_tokens: 40, completion_tokens: 30 } },
    });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { ADMIN, AdminHarness, expectError } from '../../support/admin-harness.js';
import { ASK, chunk, event } from '../../support/chat-upstream-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const ROUTE_COST = {
  unit: 'token',
  input_micro_usd_per_million: 1_000_000,
  output_micro_usd_per_million: 5_000_000,
};
const OVERLAY = {
  providers: [{ id: 'openai', reported_cost: { figure: 'usage.cost', unit: 'usd' } }],
  models: [
    { id: 'gen-5', routes: [{ provider: 'openai', upstream_model: 'gpt-5', cost: ROUTE_COST }] },
    {
      id: 'aud-v4',
      routes: [
        {
          provider: 'elevenlabs',
          upstream_model: 'eleven_v3',
          cost: { unit: 'code_point', micro_usd: 500 },
        },
      ],
    },
  ],
};
const TOKENS = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 };
/** 30 in and 20 out. */
const BY_ROUTE = '130';

let upstream: StubUpstream;
let gateway: TestGateway;
let admin: AdminHarness;
beforeAll(async () => {
  upstream = await StubUpstream.start();
  gateway = await startTestGateway({
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    CATALOG_FILE: overlay(OVERLAY),
  });
  admin = await AdminHarness.start(gateway);
});
afterAll(async () => {
  await admin.stop();
  await upstream.stop();
});

const completes = (usage: object) => {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
  ];
  upstream.reply = (response) => response.end(JSON.stringify({ choices, usage }));
};

interface Call {
  readonly id: string;
  readonly status: number;
}

async function chat(account: TestAccount, fields: object = {}): Promise<Call> {
  const answer = await postJson(`${gateway.url}/v1/chat/completions`, account.headers, {
    ...ASK,
    max_tokens: 50,
    ...fields,
  });
  return { id: answer.headers.get('x-gateway-execution-id') ?? '', status: answer.status };
}

/** The record of a call once it has ended, because a stream that breaks ends before its record is written. */
async function recordOf({ id }: Pick<Call, 'id'>): Promise<Record<string, unknown>> {
  let record: Record<string, unknown> = {};
  await until(async () => {
    record = (await admin.get(`/executions/${id}`)).json as Record<string, unknown>;
    return record.status !== 'running';
  });
  return record;
}

const idOf = ({ accountId }: TestAccount): string => toPublicId('acct', accountId);

async function usageOf(account: TestAccount, query: string): Promise<Record<string, unknown>[]> {
  return (await admin.list(`/usage?account_id=${idOf(account)}&${query}`)).data;
}

describe('what a call costs at its provider', () => {
  it.each([
    ["the provider's own figure, in micro-USD", { ...TOKENS, cost: 0.0012 }, '1200'],
    ['that of its route where no figure came', TOKENS, BY_ROUTE],
    ['that of its route where the figure is negative', { ...TOKENS, cost: -1 }, BY_ROUTE],
    ['that of its route where the figure is no number', { ...TOKENS, cost: 'much' }, BY_ROUTE],
    ['that of its route where the figure is above 1e9 USD', { ...TOKENS, cost: 2e9 }, BY_ROUTE],
  ])('is %s', async (_what, usage, cost) => {
    completes(usage);
    const call = await chat(await gateway.account());
    expect(await recordOf(call)).toMatchObject({ status: 'succeeded', cost_microusd: cost });
  });

  it('of a stream that broke is what was made, at the cost of its route', async () => {
    upstream.reply = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event(chunk('some words that were made')));
      // An end in the same packet would be an answer that never began.
      await sleep(100);
      response.end();
    };
    const call = await chat(await gateway.account(), { stream: true });
    const record = await recordOf(call);
    const { quantity } = record.uncharged as { quantity: Record<string, number> };
    const made = (quantity.prompt_tokens ?? 0) + 5 * (quantity.completion_tokens ?? 0);
    expect(made).toBeGreaterThan(0);
    expect(record).toMatchObject({ status: 'failed', cost_microusd: `${made}` });
  });

  it.each([
    ['what was made, at the cost of its route', {}, BY_ROUTE],
    ["the provider's own figure", { cost: 0.0012 }, '1200'],
  ])(
    'of an answer that the protocol of the caller cannot tell is %s',
    async (_what, more, cost) => {
      const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": ' } };
      const message = { role: 'assistant', content: null, tool_calls: [call] };
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
      upstream.reply = (response) =>
        response.end(JSON.stringify({ choices, usage: { ...TOKENS, ...more } }));
      const account = await gateway.account();
      const answer = await postJson(`${gateway.url}/v1/messages`, account.headers, {
        model: 'gen-5',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Look at it' }],
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
      });
      expect(answer.status).toBe(502);
      const id = answer.headers.get('x-gateway-execution-id') ?? '';
      expect(await recordOf({ id })).toMatchObject({
        status: 'failed',
        charged_microusd: null,
        cost_microusd: cost,
        uncharged: { unit: 'token', quantity: { prompt_tokens: 30, completion_tokens: 20 } },
      });
    },
  );

  it('that failed is what the provider says, and not known where it says nothing', async () => {
    const account = await gateway.account();
    const fails = (more: object) => {
      const body = JSON.stringify({ error: { message: 'no', type: 'server_error' }, ...more });
      upstream.reply = (response) =>
        response.writeHead(500, { 'content-type': 'application/json' }).end(body);
    };
    fails({ usage: { cost: 0.5 } });
    const billed = await recordOf(await chat(account));
    expect(billed).toMatchObject({ status: 'failed', cost_microusd: '500000' });
    fails({});
    const free = await recordOf(await chat(account));
    expect(free).toMatchObject({ status: 'failed', cost_microusd: null });
    expect(await usageOf(account, 'group_by=model')).toMatchObject([
      { calls: 2, failures: 2, cost_microusd: '500000', margin_microusd: '-500000' },
    ]);
  });

  it('is that of the route where the catalog does not say how the figure is read', async () => {
    const account = await gateway.account();
    const body = { model: 'aud-v4', input: 'Hello', voice: 'Sarah' };
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, body);
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    expect(await recordOf({ id })).toMatchObject({ cost_microusd: '2500' });
  });
});

describe('cost and margin in usage', () => {
  it('are null where the cost of a call that succeeded is not known', async () => {
    const account = await gateway.account();
    completes(TOKENS);
    await chat(account, { model: 'gen-5-mini' });
    await chat(account);
    const rows = await usageOf(account, 'group_by=model,provider,upstream_model');
    expect(rows).toMatchObject([
      {
        model: 'gen-5',
        provider: 'openai',
        upstream_model: 'gpt-5',
        cost_microusd: BY_ROUTE,
        margin_microusd: '108',
        cost_known_calls: 1,
      },
      {
        model: 'gen-5-mini',
        upstream_model: 'gpt-5-mini',
        cost_microusd: null,
        margin_microusd: null,
        cost_known_calls: 0,
      },
    ]);
    expect(await usageOf(account, 'group_by=provider')).toMatchObject([
      { calls: 2, cost_microusd: BY_ROUTE, margin_microusd: null, cost_known_calls: 1 },
    ]);
    const path = `/usage?account_id=${idOf(account)}&group_by=provider,upstream_model&format=csv`;
    const csv = (await admin.get(path)).bytes.toString();
    expect(csv).toMatch(
      /^provider,upstream_model,calls,.*,cost_microusd,margin_microusd,cost_known_calls\r\n/,
    );
    expect(csv).toContain(`${BY_ROUTE},108,1`);
  });

  it('are for operators: the holder of a key is refused their groups and sees none of them', async () => {
    const account = await gateway.account();
    completes({ ...TOKENS, cost: 0.0012 });
    const call = await chat(account);
    for (const group of ['provider', 'upstream_model', 'day,provider']) {
      const url = `${gateway.url}/v1/usage?group_by=${group}`;
      await expectError(
        send(url, { headers: account.headers }),
        400,
        'invalid_request',
        'group_by',
      );
    }
    for (const path of ['usage', `executions/${call.id}`, 'ledger', 'executions']) {
      const { bytes } = await send(`${gateway.url}/v1/${path}`, { headers: account.headers });
      const told = bytes.toString().replaceAll('provider_request_id', '');
      expect(told).not.toMatch(/cost_|margin|provider|upstream|gpt-5|1200/);
    }
  });

  it('leave the cost as it is when a charge is given back', async () => {
    const account = await gateway.account();
    completes(TOKENS);
    const { id } = await chat(account);
    await admin.post(
      `/executions/${id}/refund`,
      { amount_microusd: '100' },
      { 'idempotency-key': 'r' },
    );
    const [row] = (await admin.list(`/margin?account_id=${idOf(account)}`)).data;
    expect(row).toMatchObject({
      object: 'margin',
      model: 'gen-5',
      calls: 1,
      charged_microusd: '138',
      refunded_microusd: '100',
      cost_microusd: BY_ROUTE,
      margin_microusd: '8',
      margin_percent: 5.79,
      sold_below_cost: 0,
    });
    expect(await recordOf({ id })).toMatchObject({ cost_microusd: BY_ROUTE });
  });

  it('count what was sold below its cost, also in the metrics', async () => {
    const account = await gateway.account();
    completes({ ...TOKENS, cost: 1 });
    await chat(account);
    const path = `/margin?account_id=${idOf(account)}&group_by=provider`;
    expect((await admin.list(path)).data).toMatchObject([
      { provider: 'openai', margin_microusd: '-999762', sold_below_cost: 1 },
    ]);
    const csv = (await admin.get(`${path}&format=csv`)).bytes.toString();
    expect(csv).toMatch(/^provider,calls,failures,cost_known_calls,charged_microusd,/);
    const metrics = (await send(`${gateway.url}/metrics`, { headers: ADMIN })).bytes.toString();
    expect(metrics).toMatch(/^gateway_sold_below_cost_total\{model="gen-5"\} \d+$/m);
    expect(metrics).toMatch(/^gateway_cost_microusd_total\{model="gen-5"\} \d+$/m);
  });
});

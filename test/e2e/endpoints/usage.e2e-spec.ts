import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { UsageRollup } from '../../../src/billing/usage/usage-rollup.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { DAY_MS } from '../../../src/common/time/spans.js';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const TODAY = new Date().toISOString().slice(0, 10);
const GIVE_UP_MS = 60_000;
type Row = Record<string, unknown>;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ TASK_TICK_MS: '50', TASK_POLL_INTERVAL_MS: '50' });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const speak = (headers: Record<string, string>, input: string = HELLO.input) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, input });
const get = (path: string, headers: Record<string, string>) =>
  send(`${gateway.url}${path}`, { headers });
const rowsOf = async (path: string, headers: Record<string, string>) => {
  const answer = await get(path, headers);
  expect(answer.status).toBe(200);
  return (answer.json as { data: Row[] }).data;
};
const fold = async () => {
  const rollup = gateway.app.get(UsageRollup, { strict: false });
  await rollup.tick(0);
  await rollup.tick(0);
};
const spent = async (accountId: string) =>
  (1_000_000_000n - (await gateway.balance(accountId)).available).toString();

describe('GET /v1/usage', () => {
  it('sums up calls, failures, quantity, charge and latency, before and after they are folded', async () => {
    const { headers, accountId, key } = await gateway.account();
    await speak(headers);
    await speak(headers, 'Hello again');
    await speak(headers, '[[sandbox:status=400]]');
    await postJson(`${gateway.url}/v1/images/generations`, headers, {
      model: 'gen-image-2',
      prompt: 'a cat',
    });
    const path = '/v1/usage?group_by=day,model,key,endpoint';
    const before = await rowsOf(path, headers);
    expect(before).toEqual([
      {
        object: 'usage',
        day: TODAY,
        model: 'aud-v4',
        api_key_id: expect.stringMatching(/^key_/),
        endpoint: '/v1/audio/speech',
        calls: 3,
        failures: 1,
        quantity: 16,
        unit: 'code_point',
        input_tokens: 0,
        cached_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
        charged_microusd: '1920',
        charged_usd: '0.00192',
        refunded_microusd: '0',
        refunded_usd: '0.00',
        refunded_goodwill_microusd: '0',
        refunded_fault_microusd: '0',
        refunded_billing_error_microusd: '0',
        latency_p50_ms: expect.any(Number),
        latency_p99_ms: expect.any(Number),
      },
      expect.objectContaining({
        model: 'gen-image-2',
        quantity: 1,
        unit: 'image',
        charged_microusd: '10000',
      }),
    ]);
    await fold();
    expect(await rowsOf(path, headers)).toEqual(before);
    const [total] = await rowsOf('/v1/usage', headers);
    // Code points and images have no sum.
    expect(total).toMatchObject({
      day: TODAY,
      calls: 4,
      quantity: null,
      unit: null,
      charged_microusd: await spent(accountId),
    });
    for (const group of ['endpoint', 'model', 'key', 'account']) {
      const rows = await rowsOf(`/v1/usage?group_by=${group}`, headers);
      const mixed = ['key', 'account'].includes(group);
      expect(rows.map(({ quantity }) => quantity)).toEqual(mixed ? [null] : [16, 1]);
    }
    expect(Object.keys(total ?? {})).not.toContain('model');
    const foreign = await gateway.account();
    expect(await rowsOf('/v1/usage', foreign.headers)).toEqual([]);
    expect(key).toMatch(/^sk-/);
  });

  it('counts tasks when they end, and what was given back', async () => {
    const { headers, accountId } = await gateway.account();
    const paidCall = await speak(headers);
    const song = { model: 'tune-music', prompt: 'a song', lyrics: 'la la la' };
    expect((await postJson(`${gateway.url}/v1/music/generations`, headers, song)).status).toBe(202);
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while ((await gateway.balance(accountId)).held > 0n) {
      expect(performance.now()).toBeLessThan(giveUpAt);
      await sleep(50);
    }
    const rows = await rowsOf('/v1/usage?group_by=endpoint', headers);
    expect(rows).toMatchObject([
      { endpoint: '/v1/audio/speech', calls: 1, charged_microusd: '600' },
      { endpoint: '/v1/music/generations', calls: 1, failures: 0, quantity: 1, unit: 'task' },
    ]);
    await fold();
    const id = paidCall.headers.get('x-gateway-execution-id') ?? '';
    const refund = `${gateway.url}/admin/executions/${id}/refund`;
    const key = { 'idempotency-key': 'part' };
    const part = { amount_microusd: '100', reason: 'fault' };
    expect((await postJson(refund, { ...ADMIN, ...key }, part)).status).toBe(201);
    await send(refund, { method: 'POST', headers: ADMIN });
    const [speech] = await rowsOf('/v1/usage?group_by=endpoint', headers);
    const refunded = {
      charged_microusd: '0',
      refunded_microusd: '600',
      refunded_usd: '0.0006',
      refunded_goodwill_microusd: '0',
      refunded_fault_microusd: '100',
    };
    expect(speech).toMatchObject({ calls: 1, ...refunded });
    await fold();
    const [day] = await rowsOf('/v1/usage', headers);
    expect(day).toMatchObject({
      charged_microusd: await spent(accountId),
      refunded_microusd: '600',
      refunded_fault_microusd: '100',
    });
  });

  it('is summed up by hour and model too, as JSON and CSV, for one account and for all', async () => {
    const { headers, accountId } = await gateway.account();
    const from = `${new Date().toISOString().slice(0, 13)}:00:00Z`;
    await speak(headers);
    await speak(headers, '[[sandbox:status=400]]');
    const path = `/v1/usage?group_by=hour,model&from=${from}`;
    const before = await rowsOf(path, headers);
    const sumOf = (name: string) => before.reduce((sum, row) => sum + Number(row[name]), 0);
    expect([sumOf('calls'), sumOf('failures'), sumOf('charged_microusd')]).toEqual([2, 1, 600]);
    for (const row of before) expect(row.hour).toMatch(/^20\d\d-\d\d-\d\dT\d\d:00:00Z$/);
    await fold();
    const page = (await get(path, headers)).json as Row;
    expect(page).toMatchObject({ data: before, from });
    const csv = (await get(`${path}&format=csv`, headers)).bytes.toString();
    expect(csv).toMatch(/^hour,model,calls,.*\r\n20\d\d-\d\d-\d\dT\d\d:00:00Z,aud-v4,/);
    const account = toPublicId('acct', accountId);
    const all = await rowsOf('/admin/usage?group_by=hour,account', ADMIN);
    expect(all.filter((row) => row.account_id === account)).toHaveLength(before.length);
    expect(await rowsOf('/admin/margin?group_by=hour,provider', ADMIN)).not.toEqual([]);
  });

  it('is CSV on request, with the same names', async () => {
    const { headers } = await gateway.account();
    await speak(headers);
    const answer = await get('/v1/usage?group_by=model,day&format=csv', headers);
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(answer.headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="usage-[0-9-]{10}-to-${TODAY}.csv"$`),
    );
    const [head, line, ...rest] = answer.bytes.toString().split('\r\n');
    expect(head).toBe(
      'model,day,calls,failures,quantity,charged_microusd,latency_p50_ms,latency_p99_ms,unit,charged_usd,refunded_microusd,refunded_usd,refunded_goodwill_microusd,refunded_fault_microusd,refunded_billing_error_microusd,input_tokens,cached_tokens,output_tokens,reasoning_tokens',
    );
    expect(line).toMatch(
      new RegExp(`^aud-v4,${TODAY},1,0,5,600,\\d+,\\d+,code_point,0.0006,0,0.00,0,0,0,0,0,0,0$`),
    );
    expect(rest).toEqual([]);
  });

  it('takes days and epoch seconds, `to` exclusive, and is read page by page', async () => {
    const { headers } = await gateway.account();
    await speak(headers);
    const now = Math.floor(Date.now() / 1000);
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
    expect(await rowsOf(`/v1/usage?from=${TODAY}&to=${tomorrow}`, headers)).toHaveLength(1);
    expect(await rowsOf(`/v1/usage?from=${now}&to=${now + 5}`, headers)).toHaveLength(1);
    expect(await rowsOf(`/v1/usage?to=${TODAY}`, headers)).toEqual([]);
    expect((await get(`/v1/usage?from=${TODAY}&to=${tomorrow}`, headers)).json).toMatchObject({
      from: TODAY,
      to: tomorrow,
      last_day: TODAY,
    });
    expect(await rowsOf('/v1/usage?from=9999-12-01&to=9999-12-31', headers)).toEqual([]);
    expect(await rowsOf('/v1/usage?model=gen-5', headers)).toEqual([]);
    await postJson(`${gateway.url}/v1/images/generations`, headers, {
      model: 'gen-image-2',
      prompt: 'a cat',
    });
    const first = (await get('/v1/usage?group_by=model&limit=1', headers)).json as {
      has_more: boolean;
      next_cursor: string;
    };
    expect(first.has_more).toBe(true);
    const next = await rowsOf(
      `/v1/usage?group_by=model&limit=1&cursor=${first.next_cursor}`,
      headers,
    );
    expect(next).toMatchObject([{ model: 'gen-image-2' }]);
  });

  it('has a header with the cursor if further CSV rows follow', async () => {
    const { headers } = await gateway.account();
    await speak(headers);
    const image = { model: 'gen-image-2', prompt: 'a cat' };
    await postJson(`${gateway.url}/v1/images/generations`, headers, image);
    const path = '/v1/usage?group_by=model&limit=1&format=csv';
    const first = await get(path, headers);
    const cursor = first.headers.get('x-gateway-next-cursor');
    expect(cursor).toBe('1');
    const next = await get(`${path}&cursor=${cursor}`, headers);
    expect(next.bytes.toString()).toMatch(/^model,.*\r\ngen-image-2,.*[^\n]$/);
    expect(next.headers.get('x-gateway-next-cursor')).toBeNull();
  });
});

describe('GET /admin/usage', () => {
  it('sums up all accounts, or one, by account and key too', async () => {
    const one = await gateway.account();
    const other = await gateway.account();
    await speak(one.headers);
    await speak(other.headers);
    const account = toPublicId('acct', one.accountId);
    const all = await rowsOf('/admin/usage?group_by=account', ADMIN);
    expect(all.filter((row) => row.account_id === account)).toMatchObject([
      { calls: 1, charged_microusd: '600', account_name: expect.any(String) },
    ]);
    const own = await rowsOf(`/admin/usage?account_id=${account}&group_by=key,model`, ADMIN);
    expect(own).toMatchObject([{ model: 'aud-v4', calls: 1 }]);
    const sumOf = (rows: Row[]) =>
      rows.reduce((sum, row) => sum + BigInt(row.charged_microusd as string), 0n);
    const before = sumOf(await rowsOf('/admin/usage', ADMIN));
    expect(sumOf(all)).toBe(before);
    await fold();
    expect(sumOf(await rowsOf('/admin/usage', ADMIN))).toBe(before);
    expect(sumOf(await rowsOf('/admin/usage?group_by=account', ADMIN))).toBe(before);
  });
});

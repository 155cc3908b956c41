import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../support/admin-harness.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { foldUsage } from '../../support/usage-desk.js';
import { until } from '../../support/until.js';

const HOURS = 24;
const DAYS_OF_BURN = 7;
const CREDIT = 5_000_000n;
/** What vid-motion costs for 5 seconds. */
const VIDEO = 250_000n;

interface Overview {
  readonly at: number;
  readonly audit: {
    readonly ok: boolean | null;
    readonly finished_at: number;
    readonly entries_microusd: string;
  };
  readonly balances: Readonly<Record<string, string>>;
  readonly last_day: Readonly<Record<string, unknown>>;
  readonly hours: readonly Readonly<Record<string, unknown>>[];
  readonly to_decide: Readonly<Record<string, unknown>>;
  readonly running_dry: { readonly count: number; readonly accounts: readonly object[] };
  readonly providers: readonly object[];
}

let gateway: TestGateway;
let harness: AdminHarness;
let account: string;
let bearer: { authorization: string };

beforeAll(async () => {
  gateway = await startTestGateway({ TASK_TICK_MS: '50', TASK_POLL_INTERVAL_MS: '50' });
  harness = await AdminHarness.start(gateway);
  account = await harness.newAccount();
  await harness.credit(account, { amount_microusd: CREDIT.toString() });
  const { json } = await harness.post(`/accounts/${account}/keys`, {});
  bearer = { authorization: `Bearer ${(json as { key: string }).key}` };
});
afterAll(() => harness.stop());

async function overview(): Promise<Overview> {
  const answer = await harness.get('/overview');
  expect(answer.status).toBe(200);
  return answer.json as Overview;
}

describe('GET /admin/overview', () => {
  it('answers the audit, sums, the last day, what is late and what waits for a person', async () => {
    const before = await overview();
    const url = harness.gateway.url;
    await postJson(`${url}/v1/audio/speech`, bearer, HELLO);
    await postJson(`${url}/v1/audio/speech`, bearer, { ...HELLO, input: '[[sandbox:status=400]]' });
    const video = { model: 'vid-motion', prompt: '[[sandbox:lost-answer]] rain', seconds: '5' };
    await postJson(`${url}/v1/videos`, bearer, video);
    await until(
      async () => (await harness.list('/tasks?status=reconciliation_required')).data.length === 1,
    );
    expect((await harness.get('/audit')).json).toMatchObject({ ok: true });
    // The same overview is answered for some seconds.
    let read = await overview();
    await until(async () => {
      read = await overview();
      return (
        read.to_decide.tasks === 1 &&
        read.last_day.calls === 2 &&
        read.audit.entries_microusd === read.balances.posted_microusd
      );
    });
    expect(read.at).toBeGreaterThan(before.at);
    const { balances } = read;
    const posted = BigInt(balances.posted_microusd ?? 0);
    const held = BigInt(balances.held_microusd ?? 0);
    expect(held).toBe(VIDEO);
    expect(BigInt(balances.available_microusd ?? 0)).toBe(posted - held);
    expect(read).toMatchObject({
      object: 'overview',
      audit: { ok: true, finished_at: expect.any(Number) },
      // The last sweep may have been while a call ran.
      holds: { calls: expect.any(Number), tasks: 1 },
      last_day: { calls: 2, failures: 1, charged_microusd: '600' },
      tasks: { queued: 0, processing: 0, lag_seconds: expect.any(Number) },
      to_decide: { tasks: 1, oldest_age_seconds: expect.any(Number), held_microusd: '250000' },
      webhooks: { overdue: 0, lag_seconds: 0 },
      breakers: [],
      debts: { releases: 0 },
      running_dry: { count: 0, within_days: DAYS_OF_BURN, accounts: [] },
      is_sandbox_only: true,
    });
    expect(read.last_day).toEqual({
      calls: 2,
      failures: 1,
      latency_p50_ms: expect.any(Number),
      latency_p99_ms: expect.any(Number),
      charged_microusd: '600',
      earned: { cost_microusd: null, margin_microusd: null, cost_known_calls: 0 },
    });
    expect(read.hours).toHaveLength(HOURS);
    const calls = read.hours.reduce((sum, hour) => sum + Number(hour.calls), 0);
    expect(calls).toBe(2);
    const names = read.hours.map(({ hour }) => String(hour));
    expect(names).toEqual([...names].sort().reverse());
    expect(read.providers).toContainEqual({
      provider: 'openai',
      key_variable: 'OPENAI_API_KEY',
      has_key: false,
      served_by: 'sandbox',
    });
    expect(JSON.stringify(read)).not.toContain('sandbox-key');
    const [task] = (await harness.list('/tasks?status=reconciliation_required')).data;
    const resolved = await harness.post(`/tasks/${String(task?.id)}/resolve`, {
      outcome: 'failed',
    });
    expect(resolved.status).toBe(200);
  });

  it('names accounts whose money lasts for a few days', async () => {
    const dry = await harness.newAccount();
    await harness.credit(dry, { amount_microusd: '3000' });
    const { json } = await harness.post(`/accounts/${dry}/keys`, {});
    const key = { authorization: `Bearer ${(json as { key: string }).key}` };
    await postJson(`${harness.gateway.url}/v1/audio/speech`, key, HELLO);
    let read = await overview();
    await until(async () => {
      await foldUsage(gateway);
      read = await overview();
      return read.running_dry.count === 1;
    });
    expect(read.running_dry.accounts).toEqual([
      {
        id: dry,
        name: expect.any(String),
        available_microusd: '2400',
        burn_microusd_per_day: '600',
        days_left: 4,
      },
    ]);
  });
});

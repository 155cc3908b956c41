import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { until } from '../../support/until.js';

const UNKNOWN = 'reconciliation_required';

let harness: AdminHarness;
let account: string;
let bearer: { authorization: string };

beforeAll(async () => {
  harness = await AdminHarness.start(await startTestGateway());
  account = await harness.newAccount();
  await harness.credit(account, { amount_microusd: '5000000' });
  const { json } = await harness.post(`/accounts/${account}/keys`, {});
  bearer = { authorization: `Bearer ${(json as { key: string }).key}` };
});
afterAll(() => harness.stop());

describe('GET /admin/holds', () => {
  it('lists what tasks and calls under way hold, and nothing when they have ended', async () => {
    const submitted = await postJson(`${harness.gateway.url}/v1/videos`, bearer, {
      model: 'vid-motion',
      prompt: '[[sandbox:lost-answer]] rain',
      seconds: '5',
    });
    const { id: task } = submitted.json as { id: string };
    const call = postJson(`${harness.gateway.url}/v1/audio/speech`, bearer, {
      model: 'aud-v4',
      input: '[[sandbox:delay=10000]] hello',
      voice: 'Adam',
    });
    const ofAccount = `/holds?account_id=${account}`;
    await until(async () => (await harness.list(ofAccount)).data.length === 2);
    const { data } = await harness.list(ofAccount);
    expect(data).toEqual([
      {
        id: task,
        object: 'hold',
        holder: 'task',
        account_id: account,
        api_key_id: expect.stringMatching(/^key_/),
        model: 'vid-motion',
        status: expect.stringMatching(/^(queued|reconciliation_required)$/),
        run: null,
        amount_microusd: '250000',
        age_seconds: expect.any(Number),
        created_at: expect.any(Number),
      },
      expect.objectContaining({
        id: expect.stringMatching(/^exec_/),
        holder: 'execution',
        model: 'aud-v4',
        status: 'running',
      }),
    ]);
    const first = await harness.list(`${ofAccount}&limit=1`);
    expect(first.data).toMatchObject([{ id: task }]);
    const second = await harness.list(`${ofAccount}&cursor=${first.next_cursor ?? ''}`);
    expect([second.data.length, second.has_more]).toEqual([1, false]);
    for (const [filter, ids] of [
      ['holder=task', [task]],
      ['model=vid-motion', [task]],
      ['model=vid-cine', []],
      ['created_before=1', []],
    ] as const) {
      const found = (await harness.list(`${ofAccount}&${filter}`)).data.map(({ id }) => id);
      expect([filter, found]).toEqual([filter, ids]);
    }
    expect((await call).status).toBe(200);
    const left = (await harness.list(ofAccount)).data;
    expect(left).toMatchObject([{ id: task }]);
    await until(async () => (await harness.list(ofAccount)).data[0]?.status === UNKNOWN);
    await harness.post(`/tasks/${task}/resolve`, { outcome: 'failed' });
    expect((await harness.list(ofAccount)).data).toEqual([]);
  });

  it('is 400 for a filter or a cursor that is none', async () => {
    for (const [query, param] of [
      ['account_id=acme', 'account_id'],
      ['holder=nobody', 'holder'],
      ['cursor=x', 'cursor'],
      ['status=open', 'status'],
    ] as const)
      await expectError(harness.get(`/holds?${query}`), 400, 'invalid_request', param);
  });
});

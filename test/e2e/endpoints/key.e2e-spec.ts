import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const keyOf = (headers: Record<string, string>) => send(`${gateway.url}/v1/key`, { headers });

describe('GET /v1/key', () => {
  it('shows the key its terms, what it has spent and what is left', async () => {
    const { headers, accountId } = await gateway.account();
    await postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
    expect((await keyOf(headers)).json).toMatchObject({
      object: 'api_key',
      allowed_models: null,
      spend_limit_microusd: null,
      spent_microusd: '600',
      left_microusd: null,
    });
    const terms = { name: 'capped', spendLimitMicroUsd: 1_000n, spendLimitPeriod: 'day' as const };
    const capped = { authorization: `Bearer ${await gateway.keyOf(accountId, terms)}` };
    expect((await keyOf(capped)).json).toMatchObject({ spent_microusd: '0' });
    await postJson(`${gateway.url}/v1/audio/speech`, capped, HELLO);
    const { json } = await keyOf(capped);
    expect(json).toMatchObject({
      name: 'capped',
      spend_limit_microusd: '1000',
      spend_limit_period: 'day',
      spent_microusd: '600',
      left_microusd: '400',
    });
    expect(json).not.toHaveProperty('key');
  });
});

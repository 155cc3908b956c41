import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestAccount } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account(10_000n);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const get = (path: string, headers = account.headers) => send(gateway.url + path, { headers });
const speak = (fields: object = {}) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, { ...HELLO, ...fields });

describe('the holder of a key', () => {
  it('reads the balance, and while a call runs what it holds', async () => {
    const balance = async () => (await get('/v1/account')).json;
    expect(await balance()).toEqual({
      object: 'account',
      id: `acct_${account.accountId.replaceAll('-', '')}`,
      available_microusd: '10000',
      held_microusd: '0',
      low_balance_microusd: null,
      burn_microusd_per_day: '0',
      runs_out_on: null,
      topup_url: null,
      credits: [{ credit_kind: 'paid', remaining_microusd: '10000', expires_at: null }],
    });
    const call = speak({ input: '[[sandbox:delay=300]]Hi' });
    let held = '0';
    while (held === '0') held = ((await balance()) as { held_microusd: string }).held_microusd;
    expect(held).toBe('2760');
    expect((await call).status).toBe(200);
    expect(await balance()).toMatchObject({ available_microusd: '7240', held_microusd: '0' });
  });

  it('reads what happened to an own call', async () => {
    const good = await speak();
    const id = good.headers.get('x-gateway-execution-id') ?? '';
    expect((await get(`/v1/executions/${id}`)).json).toEqual({
      id,
      object: 'execution',
      capped: false,
      status: 'succeeded',
      model: 'aud-v4',
      endpoint: '/v1/audio/speech',
      error_code: null,
      charged_microusd: '600',
      refunded_microusd: null,
      held_microusd: '600',
      unit: 'code_point',
      quantity: 5,
      unit_price_microusd: '120',
      lines: [
        {
          unit: 'code_point',
          quantity: 5,
          unit_price_microusd: '120',
          per: 1,
          amount_microusd: '600',
        },
      ],
      price_book: null,
      factor_permille: null,
      estimated: false,
      first_byte_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      output_cap: null,
      output_cap_reason: null,
      run: null,
      provider_request_id: expect.any(String),
      client_request_id: null,
      created_at: expect.any(Number),
      completed_at: expect.any(Number),
    });
    const bad = await speak({ input: '[[sandbox:status=422]]' });
    const failedId = bad.headers.get('x-gateway-execution-id') ?? '';
    expect((await get(`/v1/executions/${failedId}`)).json).toMatchObject({
      status: 'failed',
      error_code: 'provider_rejected_request',
      charged_microusd: null,
      held_microusd: expect.stringMatching(/^[1-9]\d*$/),
      unit: null,
      quantity: null,
      unit_price_microusd: null,
      lines: null,
      first_byte_ms: null,
      duration_ms: expect.any(Number),
    });
  });

  it('reads it with another key of the account, allowlist or not', async () => {
    const id = (await speak()).headers.get('x-gateway-execution-id') ?? '';
    const key = await gateway.keyOf(account.accountId, { allowedModels: [] });
    const headers = { authorization: `Bearer ${key}` };
    expect((await get(`/v1/executions/${id}`, headers)).status).toBe(200);
  });

  it('learns nothing of the calls of others: foreign, unknown and malformed ids are one', async () => {
    const id = (await speak()).headers.get('x-gateway-execution-id') ?? '';
    const stranger = await gateway.account();
    const foreign = await get(`/v1/executions/${id}`, stranger.headers);
    expect({ status: foreign.status, code: errorOf(foreign).code }).toEqual({
      status: 404,
      code: 'not_found',
    });
    for (const other of ['exec_00000000000000000000000000000000', 'nonsense', `${id}0`, '%00']) {
      const answer = await get(`/v1/executions/${other}`, stranger.headers);
      expect(answer.status).toBe(404);
      expect(errorOf(answer)).toEqual(errorOf(foreign));
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const EPOCH_SECONDS = expect.any(Number);

let harness: AdminHarness;
beforeAll(async () => {
  harness = await AdminHarness.start();
});
afterAll(() => harness.stop());

describe('an execution', () => {
  const speak = (headers: Record<string, string>, fields: object = {}) =>
    postJson(`${harness.gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
  const executionId = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';

  it('is found by the id in the head of its answer, with its charge (AUD-03)', async () => {
    const { headers, accountId } = await harness.gateway.account();
    const id = executionId(await speak(headers));
    const found = await harness.get(`/executions/${id}`);
    const [upstream] = await harness.gateway.upstreamRequests();
    expect(upstream?.status).toBe(200);
    expect(found.json).toEqual({
      id,
      object: 'execution',
      capped: false,
      attempts: [
        {
          provider: 'sandbox',
          upstream_model: 'eleven_v4',
          step: null,
          outcome: 'success',
          start_ms: null,
          duration_ms: expect.any(Number),
          first_byte_ms: expect.any(Number),
          status: null,
          code: null,
          provider_request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        },
      ],
      provider_figures: { 'character-cost': '5' },
      uncharged: null,
      status: 'succeeded',
      model: 'aud-v4',
      endpoint: '/v1/audio/speech',
      error_code: null,
      charged_microusd: '600',
      cost_microusd: null,
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
      output_cap: null,
      output_cap_reason: null,
      run: null,
      estimated: false,
      first_byte_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      provider: 'sandbox',
      route: { provider: 'sandbox', upstream_model: expect.any(String) },
      provider_error: null,
      client_request_id: null,
      provider_request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      account_id: `acct_${accountId.replaceAll('-', '')}`,
      api_key_id: expect.stringMatching(/^key_/),
      created_at: EPOCH_SECONDS,
      completed_at: EPOCH_SECONDS,
    });
  });

  it('that failed shows the reason and that nothing was charged', async () => {
    const { headers } = await harness.gateway.account();
    const answer = await speak(headers, { input: '[[sandbox:status=500]]' });
    expect((await harness.get(`/executions/${executionId(answer)}`)).json).toMatchObject({
      status: 'failed',
      error_code: 'provider_http_error',
      charged_microusd: null,
      provider: 'sandbox',
      route: { provider: 'sandbox', upstream_model: 'eleven_v4' },
      attempts: [
        { provider: 'sandbox', outcome: 'http_error', status: 500, start_ms: expect.any(Number) },
      ],
      completed_at: EPOCH_SECONDS,
    });
    const own = `${harness.gateway.url}/v1/executions/${executionId(answer)}`;
    expect((await send(own, { headers })).json).not.toHaveProperty('attempts');
  });

  it('is not made by what is refused before the hold', async () => {
    const { headers } = await harness.gateway.account();
    const poor = await harness.gateway.account(1n);
    const refused = [await speak(headers, { foo: 1 }), await speak(poor.headers)];
    for (const answer of refused) {
      await expectError(harness.get(`/executions/${executionId(answer)}`), 404, 'not_found');
    }
  });

  it('is listed by account and by status, newest first', async () => {
    const { headers, accountId } = await harness.gateway.account();
    const first = executionId(await speak(headers));
    const failed = executionId(await speak(headers, { input: '[[sandbox:status=400]]' }));
    const last = executionId(await speak(headers));
    const account = `account_id=acct_${accountId.replaceAll('-', '')}`;
    const ids = async (query: string) =>
      (await harness.list(`/executions?${account}${query}`)).data.map((row) => row.id);
    expect(await ids('')).toEqual([last, failed, first]);
    expect(await ids('&status=succeeded')).toEqual([last, first]);
    expect(await ids('&status=failed')).toEqual([failed]);
    expect(await ids('&status=running')).toEqual([]);
    const page = await harness.list(`/executions?${account}&limit=2`);
    expect(page.has_more).toBe(true);
    expect(await ids(`&limit=2&cursor=${page.next_cursor ?? ''}`)).toEqual([first]);
    await expectError(harness.get('/executions?status=odd'), 400, 'invalid_request', 'status');
    await expectError(
      harness.get('/executions?account_id=acct_1'),
      400,
      'invalid_request',
      'account_id',
    );
  });
});

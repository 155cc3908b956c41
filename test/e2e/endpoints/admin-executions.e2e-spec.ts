import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

interface List {
  readonly object: string;
  readonly data: Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const EPOCH_SECONDS = expect.any(Number);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ TRUST_PROXY: '127.0.0.0/8' });
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
});

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const get = (path: string, headers: Record<string, string> = ADMIN) =>
  send(`${gateway.url}/admin${path}`, { headers });
const list = async (path: string) => {
  const answer = await get(path);
  expect(answer.status).toBe(200);
  return answer.json as List;
};

async function expectError(call: Promise<Answer>, status: number, code: string, param?: string) {
  const answer = await call;
  const error = errorOf(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  if (param !== undefined) expect(error.param).toBe(param);
}

it('GET /admin/audit proves the books', async () => {
  const { json } = await get('/audit');
  expect(json).toMatchObject({ ok: true, held_microusd: '0', discrepancies: [] });
  const report = json as { posted_microusd: string; entries_microusd: string };
  expect(report.posted_microusd).toBe(report.entries_microusd);
});

describe('an execution', () => {
  const speak = (headers: Record<string, string>, fields: object = {}) =>
    postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
  const executionId = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';

  it('is found by the id in the head of its answer, with its charge (AUD-03)', async () => {
    const { headers, accountId } = await gateway.account();
    const id = executionId(await speak(headers));
    const found = await get(`/executions/${id}`);
    const [upstream] = await gateway.upstreamRequests();
    expect(upstream?.status).toBe(200);
    expect(found.json).toEqual({
      id,
      object: 'execution',
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

  it('that failed tells why and that nothing was charged', async () => {
    const { headers } = await gateway.account();
    const answer = await speak(headers, { input: '[[sandbox:status=500]]' });
    expect((await get(`/executions/${executionId(answer)}`)).json).toMatchObject({
      status: 'failed',
      error_code: 'provider_http_error',
      charged_microusd: null,
      provider: 'sandbox',
      completed_at: EPOCH_SECONDS,
    });
  });

  it('is not made by what is refused before the hold', async () => {
    const { headers } = await gateway.account();
    const poor = await gateway.account(1n);
    const refused = [await speak(headers, { foo: 1 }), await speak(poor.headers)];
    for (const answer of refused) {
      await expectError(get(`/executions/${executionId(answer)}`), 404, 'not_found');
    }
  });

  it('is listed by account and by status, newest first', async () => {
    const { headers, accountId } = await gateway.account();
    const first = executionId(await speak(headers));
    const failed = executionId(await speak(headers, { input: '[[sandbox:status=400]]' }));
    const last = executionId(await speak(headers));
    const account = `account_id=acct_${accountId.replaceAll('-', '')}`;
    const ids = async (query: string) =>
      (await list(`/executions?${account}${query}`)).data.map((row) => row.id);
    expect(await ids('')).toEqual([last, failed, first]);
    expect(await ids('&status=succeeded')).toEqual([last, first]);
    expect(await ids('&status=failed')).toEqual([failed]);
    expect(await ids('&status=running')).toEqual([]);
    const page = await list(`/executions?${account}&limit=2`);
    expect(page.has_more).toBe(true);
    expect(await ids(`&limit=2&cursor=${page.next_cursor ?? ''}`)).toEqual([first]);
    await expectError(get('/executions?status=odd'), 400, 'invalid_request', 'status');
    await expectError(get('/executions?account_id=acct_1'), 400, 'invalid_request', 'account_id');
  });
});

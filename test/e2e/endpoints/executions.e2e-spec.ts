import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN, type TestAccount } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

interface Listed {
  readonly data: readonly Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const speak = (name?: string, fields: object = {}, headers = account.headers): Promise<Answer> =>
  postJson(
    `${gateway.url}/v1/audio/speech`,
    { ...headers, ...(name !== undefined && { 'x-client-request-id': name }) },
    { ...HELLO, ...fields },
  );

async function list(query: string, headers: Record<string, string> = account.headers) {
  const answer = await send(`${gateway.url}/v1/executions?${query}`, { headers });
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  return answer.json as Listed;
}
const idOf = (answer: Answer) => answer.headers.get('x-gateway-execution-id');
const idsOf = ({ data }: Listed) => data.map((row) => row.id);

describe('X-Client-Request-Id', () => {
  it('is echoed and kept on the execution (G-97)', async () => {
    const answer = await speak('order 17/a');
    expect(answer.headers.get('x-client-request-id')).toBe('order 17/a');
    const [row] = (await list('client_request_id=order%2017/a')).data;
    expect(row).toMatchObject({ id: idOf(answer), client_request_id: 'order 17/a' });
  });

  it('finds the charge of a call whose client gave up waiting (G-97)', async () => {
    const body = JSON.stringify({ ...HELLO, input: '[[sandbox:delay=5000]]Hi' });
    const patience = new AbortController();
    const call = fetch(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: {
        ...account.headers,
        'content-type': 'application/json',
        'x-client-request-id': 'lost',
      },
      body,
      signal: patience.signal,
    });
    const lost = async () => (await list('client_request_id=lost')).data[0];
    while ((await lost())?.status !== 'running') await sleep(20);
    patience.abort();
    await expect(call).rejects.toThrow();
    while ((await lost())?.status === 'running') await sleep(50);
    const row = await lost();
    expect(row).toMatchObject({ status: 'succeeded', charged_microusd: '2880' });
  });

  it('is kept for each call, so that two calls of one name are both listed', async () => {
    await speak('twice');
    await speak('twice');
    expect((await list('client_request_id=twice')).data).toHaveLength(2);
  });

  it.each(['x'.repeat(129), 'naïve'])(
    'is ignored where it cannot be kept: %s (G-97)',
    async (name) => {
      const answer = await speak(name);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-client-request-id')).toBeNull();
    },
  );
});

describe('GET /v1/executions', () => {
  it('lists the calls of the account, newest first, page by page', async () => {
    const own = await gateway.account();
    const made: (string | null)[] = [];
    for (let index = 0; index < 3; index += 1) {
      made.unshift(idOf(await speak(undefined, {}, own.headers)));
    }
    const first = await list('limit=2', own.headers);
    expect(idsOf(first)).toEqual(made.slice(0, 2));
    expect(first.has_more).toBe(true);
    const second = await list(`limit=2&cursor=${first.next_cursor}`, own.headers);
    expect(idsOf(second)).toEqual(made.slice(2));
    expect(second).toMatchObject({ has_more: false, next_cursor: null });
  });

  it('filters by status, model, key and time', async () => {
    const own = await gateway.account();
    const good = idOf(await speak(undefined, {}, own.headers));
    const bad = idOf(await speak(undefined, { input: '[[sandbox:status=422]]' }, own.headers));
    const other = { authorization: `Bearer ${await gateway.keyOf(own.accountId)}` };
    const turbo = idOf(await speak(undefined, { model: 'aud-flash-v2.5' }, other));
    const of = async (query: string) => idsOf(await list(query, own.headers));
    expect(await of('status=succeeded')).toEqual([turbo, good]);
    expect(await of('status=failed')).toEqual([bad]);
    expect(await of('model=aud-flash-v2.5')).toEqual([turbo]);
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect(await of(`created_after=${nowSeconds + 60}`)).toEqual([]);
    expect(await of(`created_before=${nowSeconds - 60}`)).toEqual([]);
    const window = `created_after=${nowSeconds - 60}&created_before=${nowSeconds + 60}`;
    expect(await of(window)).toEqual([turbo, bad, good]);

    const operator = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
    const path = `${gateway.url}/admin/executions`;
    const found = await send(`${path}/${turbo}`, operator);
    const keyId = (found.json as { api_key_id: string }).api_key_id;
    expect(await of(`api_key_id=${keyId}`)).toEqual([turbo]);
    const listed = await send(`${path}?api_key_id=${keyId}&model=aud-flash-v2.5`, operator);
    expect(idsOf(listed.json as Listed)).toEqual([turbo]);
  });

  it('shows nothing of another account', async () => {
    await speak('mine');
    const stranger = await gateway.account();
    expect((await list('', stranger.headers)).data).toEqual([]);
    expect((await list('client_request_id=mine', stranger.headers)).data).toEqual([]);
  });

  it.each([
    ['status=done', 'status'],
    ['created_after=yesterday', 'created_after'],
    ['created_before=-1', 'created_before'],
    ['api_key_id=key_1', 'api_key_id'],
    ['cursor=exec_1', 'cursor'],
    ['limit=101', 'limit'],
    ['account_id=acct_1', 'account_id'],
  ])('refuses %s and names the filter', async (query, param) => {
    const answer = await send(`${gateway.url}/v1/executions?${query}`, {
      headers: account.headers,
    });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });

  it('asks for a key', async () => {
    expect((await send(`${gateway.url}/v1/executions`)).status).toBe(401);
  });
});

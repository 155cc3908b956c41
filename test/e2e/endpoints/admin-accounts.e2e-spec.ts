import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

let harness: AdminHarness;

beforeAll(async () => {
  harness = await AdminHarness.start();
});
afterAll(() => harness.stop());

const speak = (headers: Record<string, string>, input: string = HELLO.input) =>
  postJson(`${harness.gateway.url}/v1/audio/speech`, headers, { ...HELLO, input });
const dataOf = (answer: Answer) => {
  expect(answer.status).toBe(200);
  return (answer.json as { data: Record<string, unknown>[] }).data;
};

describe('PATCH /admin/accounts/{id}', () => {
  it('renames an account and changes nothing else', async () => {
    const created = (await harness.ask('POST', '/accounts', { name: 'old' })).json as {
      id: string;
    };
    expect(created).toMatchObject({ disabled: false });
    const changed = await harness.ask('PATCH', `/accounts/${created.id}`, { name: 'new' });
    expect(changed.json).toEqual({ ...created, name: 'new' });
    const { json } = await harness.ask('GET', `/accounts/${created.id}`);
    expect(json).toEqual({ ...(changed.json as object), credits: [] });
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ disabled: 'yes' }, 'disabled'],
    [{ available_microusd: '5' }, 'available_microusd'],
  ])('refuses %j', async (body, param) => {
    const { id } = (await harness.ask('POST', '/accounts', { name: 'a' })).json as { id: string };
    await expectError(harness.ask('PATCH', `/accounts/${id}`, body), 400, 'invalid_request', param);
  });

  it('answers 404 for an unknown account', async () => {
    const path = '/accounts/acct_00000000000000000000000000000000';
    expect((await harness.ask('PATCH', path, { name: 'x' })).status).toBe(404);
  });
});

describe('a disabled account', () => {
  it('is refused on every path within 2 s, while its call under way ends and is charged (G-99)', async () => {
    const { headers, accountId } = await harness.gateway.account();
    const id = toPublicId('acct', accountId);
    expect((await speak(headers)).status).toBe(200);
    const slow = speak(headers, '[[sandbox:delay=4000]] Hello');
    await sleep(500);
    expect((await harness.ask('PATCH', `/accounts/${id}`, { disabled: true })).json).toMatchObject({
      disabled: true,
    });
    await sleep(2_000);
    await expectError(speak(headers), 403, 'account_disabled', null);
    for (const path of ['account', 'models', 'tasks', 'executions']) {
      const answer = await send(`${harness.gateway.url}/v1/${path}`, { headers });
      await expectError(answer, 403, 'account_disabled', null);
      expect(errorOf(answer).type).toBe('permission_error');
    }
    expect((await slow).status).toBe(200);
    await harness.ask('PATCH', `/accounts/${id}`, { disabled: false });
    await sleep(2_000);
    expect((await speak(headers)).status).toBe(200);
    expect((await harness.gateway.balance(accountId)).entries).toBe(4);
  });
});

describe('GET /admin/accounts?name=', () => {
  it('finds names by their beginning, in any case, % and _ and \\ as they are', async () => {
    for (const name of ['Zebra one', 'zebra TWO', 'a zebra', 'z%bra', 'z_bra', 'z\\bra']) {
      await harness.newAccount(name);
    }
    const find = async (name: string) =>
      dataOf(await harness.ask('GET', `/accounts?name=${encodeURIComponent(name)}`)).map(
        (row) => row.name,
      );
    expect(await find('ZEBRA')).toEqual(['zebra TWO', 'Zebra one']);
    expect(await find('z%')).toEqual(['z%bra']);
    expect(await find('z_')).toEqual(['z_bra']);
    expect(await find('z\\')).toEqual(['z\\bra']);
    expect(await find('nobody')).toEqual([]);
  });

  it('is read page by page', async () => {
    for (const name of ['page 1', 'page 2', 'page 3']) await harness.newAccount(name);
    const first = (await harness.ask('GET', '/accounts?name=page&limit=2')).json as {
      next_cursor: string;
    };
    const next = await harness.ask(
      'GET',
      `/accounts?name=page&limit=2&cursor=${first.next_cursor}`,
    );
    expect(dataOf(next).map((row) => row.name)).toEqual(['page 1']);
  });
});

describe('POST /admin/executions/{id}/refund', () => {
  const paidCall = async () => {
    const { headers, accountId } = await harness.gateway.account(1_000_000n);
    const execution = (await speak(headers)).headers.get('x-gateway-execution-id') ?? '';
    return { accountId, execution };
  };

  it('gives the charge back once, as a correction linked to the call', async () => {
    const { accountId, execution } = await paidCall();
    const answer = await harness.ask('POST', `/executions/${execution}/refund`, { note: 'sorry' });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      object: 'ledger_entry',
      kind: 'correction',
      amount_microusd: '600',
      balance_after_microusd: '1000000',
      reference: execution,
      note: 'sorry',
    });
    await expectError(
      harness.ask('POST', `/executions/${execution}/refund`),
      409,
      'conflict',
      null,
    );
    expect((await harness.gateway.balance(accountId)).available).toBe(1_000_000n);
    expect((await harness.ask('GET', `/executions/${execution}`)).json).toMatchObject({
      status: 'succeeded',
      charged_microusd: '600',
      refunded_microusd: '600',
    });
    await harness.gateway.expectCleanBooks();
  });

  it('refunds once when requested ten times at once', async () => {
    const { accountId, execution } = await paidCall();
    const asked = Array.from({ length: 10 }, () =>
      harness.ask('POST', `/executions/${execution}/refund`),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, ...Array<number>(9).fill(409)]);
    expect((await harness.gateway.balance(accountId)).available).toBe(1_000_000n);
  });

  it('refuses a call that cost nothing (400), an unknown one (404), an unknown field (400)', async () => {
    const { headers } = await harness.gateway.account();
    const failed = await speak(headers, '[[sandbox:status=400]] Hello');
    const id = failed.headers.get('x-gateway-execution-id') ?? '';
    await expectError(
      harness.ask('POST', `/executions/${id}/refund`),
      400,
      'invalid_request',
      'id',
    );
    const unknown = `exec_${'0'.repeat(32)}`;
    await expectError(harness.ask('POST', `/executions/${unknown}/refund`), 404, 'not_found', 'id');
    const misnamed = harness.ask('POST', `/executions/${id}/refund`, { amount: '1' });
    await expectError(misnamed, 400, 'invalid_request', 'amount');
    const partly = harness.ask('POST', `/executions/${id}/refund`, { amount_microusd: '1' });
    await expectError(partly, 400, 'invalid_request', 'Idempotency-Key');
  });
});

describe('filters', () => {
  it('of the ledger are kind and time', async () => {
    const { headers, accountId } = await harness.gateway.account(1_000_000n);
    await speak(headers);
    const path = `/accounts/${toPublicId('acct', accountId)}/ledger`;
    const find = async (query: string) =>
      dataOf(await harness.ask('GET', `${path}?${query}`)).map((row) => row.kind);
    const now = Math.floor(Date.now() / 1000);
    expect(await find('kind=charge')).toEqual(['charge']);
    expect(await find('kind=credit')).toEqual(['credit']);
    expect(await find(`created_after=${now - 60}&created_before=${now + 60}`)).toHaveLength(2);
    expect(await find(`created_after=${now + 60}`)).toEqual([]);
    const empty = await harness.ask('GET', `${path}?created_after=${now}&created_before=${now}`);
    await expectError(empty, 400, 'invalid_request', 'created_before');
    expect(await find(`created_before=${now - 60}`)).toEqual([]);
    const bad = await harness.ask('GET', `${path}?kind=refund`);
    await expectError(bad, 400, 'invalid_request', 'kind');
  });
});

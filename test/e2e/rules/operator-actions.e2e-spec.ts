import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';

const ACTOR = createHash('sha256').update(ADMIN_TOKEN).digest('hex').slice(0, 12);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

async function ask(method: string, path: string, body?: object, token = ADMIN_TOKEN) {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    'idempotency-key': path,
    ...(body && { 'content-type': 'application/json' }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${gateway.url}/admin/${path}`, init);
  const text = await answer.text();
  return { status: answer.status, json: (text === '' ? {} : JSON.parse(text)) as { id?: string } };
}

const recorded = (): Promise<Record<string, unknown>[]> =>
  gateway.dataSource.query(
    `SELECT actor, action, target, address, at, outcome, made, amount
       FROM operator_action LEFT JOIN operator_outcome ON action_id = id ORDER BY id`,
  );

describe('what an operator changes', () => {
  it('is recorded with actor, action, target, address, time and what came of it', async () => {
    const account = (await ask('POST', 'accounts', { name: 'a' })).json.id ?? '';
    const entry = (await ask('POST', `accounts/${account}/credits`, { amount_microusd: '5' })).json
      .id;
    expect((await ask('POST', `accounts/${account}/credits`, { amount_microusd: 5 })).status).toBe(
      400,
    );
    const key = (await ask('POST', `accounts/${account}/keys`, {})).json.id ?? '';
    expect((await ask('DELETE', `keys/${key}`)).status).toBe(204);
    expect((await ask('DELETE', 'keys/key_%00')).status).toBe(404);
    expect((await ask('GET', `accounts/${account}`)).status).toBe(200);
    expect((await ask('POST', 'accounts', { name: 'b' }, 'wrong')).status).toBe(401);
    const common = {
      actor: ACTOR,
      address: expect.stringContaining('127.0.0.1'),
      at: expect.any(Date),
      outcome: 'done',
      made: null,
      amount: null,
    };
    const credits = { ...common, action: 'POST /admin/accounts/:id/credits', target: account };
    expect(await recorded()).toEqual([
      { ...common, action: 'POST /admin/accounts', target: null, made: account },
      { ...credits, made: entry, amount: '5' },
      { ...credits, outcome: 'invalid_request' },
      { ...common, action: 'POST /admin/accounts/:id/keys', target: account, made: key },
      { ...common, action: 'DELETE /admin/keys/:id', target: key },
      { ...common, action: 'DELETE /admin/keys/:id', target: 'key_?', outcome: 'not_found' },
    ]);
  });

  it('is listed for operators, newest first, page by page', async () => {
    interface Action {
      readonly id: string;
      readonly action: string;
    }
    const page = async (query: string) => {
      const answer = await fetch(`${gateway.url}/admin/operator-actions?${query}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      expect(answer.status).toBe(200);
      return (await answer.json()) as { data: Action[]; next_cursor: string | null };
    };
    const { data } = await page('limit=100');
    const actions = data.map(({ action }) => action);
    expect(actions).toEqual((await recorded()).map(({ action }) => action).reverse());
    expect(data[0]).toEqual({
      id: expect.stringMatching(/^[0-9]+$/),
      object: 'operator_action',
      actor: ACTOR,
      action: 'DELETE /admin/keys/:id',
      target: 'key_?',
      address: expect.stringContaining('127.0.0.1'),
      outcome: 'not_found',
      made: null,
      amount_microusd: null,
      created_at: expect.any(Number),
    });
    const first = await page('limit=2');
    const rest = await page(`limit=100&cursor=${first.next_cursor}`);
    expect([...first.data, ...rest.data]).toEqual(data);
    expect(rest.next_cursor).toBeNull();
  });

  it('contains no key that was sent in place of an id', async () => {
    const { key } = await gateway.account();
    expect((await ask('DELETE', `keys/${key}`)).status).toBe(404);
    const all = await recorded();
    expect(all.at(-1)).toMatchObject({ action: 'DELETE /admin/keys/:id', target: 'sk-[redacted]' });
    expect(JSON.stringify(all)).not.toContain(key);
  });

  it('is done where only what came of it cannot be recorded', async () => {
    await gateway.dataSource.query('ALTER TABLE operator_outcome RENAME TO operator_outcome_gone');
    try {
      const { status, json } = await ask('POST', 'accounts', { name: 'without an outcome' });
      expect([status, json.id]).toEqual([201, expect.stringMatching(/^acct_/)]);
    } finally {
      await gateway.dataSource.query(
        'ALTER TABLE operator_outcome_gone RENAME TO operator_outcome',
      );
    }
    expect((await recorded()).at(-1)).toMatchObject({ outcome: null, made: null });
  });

  it('is not done where it cannot be recorded', async () => {
    await gateway.dataSource.query('ALTER TABLE operator_action RENAME TO operator_action_gone');
    try {
      expect((await ask('POST', 'accounts', { name: 'unrecorded' })).status).toBe(500);
    } finally {
      await gateway.dataSource.query('ALTER TABLE operator_action_gone RENAME TO operator_action');
    }
    const rows = await gateway.dataSource.query<unknown[]>(
      "SELECT 1 FROM account WHERE name = 'unrecorded'",
    );
    expect(rows).toEqual([]);
  });
});

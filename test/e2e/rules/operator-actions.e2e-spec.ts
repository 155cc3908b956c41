import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { actOf } from '../../../src/auth/acts/operator-acts.js';
import { OperatorActions } from '../../../src/auth/acts/operator-actions.js';
import { declarationOf } from '../../../src/commands/command-declarations.js';
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

interface Listed {
  readonly actor: string;
  readonly action: string;
  readonly made: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

async function listed(query: string): Promise<Listed[]> {
  const answer = await fetch(`${gateway.url}/admin/operator-actions?${query}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Listed[] }).data;
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
    const credits = { ...common, action: 'account:credit', target: account };
    expect(await recorded()).toEqual([
      { ...common, action: 'account:create', target: null, made: account },
      { ...credits, made: entry, amount: '5' },
      { ...credits, outcome: 'invalid_request' },
      { ...common, action: 'key:create', target: account, made: key },
      { ...common, action: 'key:revoke', target: key },
      { ...common, action: 'key:revoke', target: 'key_?', outcome: 'not_found' },
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
      person: null,
      issuer: null,
      subject: null,
      role: 'admin',
      reason: null,
      action: 'key:revoke',
      target: 'key_?',
      address: expect.stringContaining('127.0.0.1'),
      outcome: 'not_found',
      made: null,
      amount_microusd: null,
      before: null,
      after: null,
      created_at: expect.any(Number),
    });
    const first = await page('limit=2');
    const rest = await page(`limit=100&cursor=${first.next_cursor}`);
    expect([...first.data, ...rest.data]).toEqual(data);
    expect(rest.next_cursor).toBeNull();
  });

  it('shows what changed: the values before and after, or those of what was made', async () => {
    const account = (await ask('POST', 'accounts', { name: 'before' })).json.id ?? '';
    await ask('PATCH', `accounts/${account}`, { name: 'after' });
    await ask('POST', `accounts/${account}/credits`, { amount_microusd: '700' });
    const terms = { name: 'ci', spend_limit_microusd: '5', spend_limit_period: 'day' };
    const key = (await ask('POST', `accounts/${account}/keys`, terms)).json;
    await ask('PATCH', `keys/${key.id}`, { spend_limit_microusd: '9', allowed_models: ['aud-v4'] });
    await ask('DELETE', `keys/${key.id}`);
    const acts = (await listed('limit=6')).map(({ action, before, after }) => [
      action,
      before,
      after,
    ]);
    expect(acts).toEqual([
      ['key:revoke', { revoked_at: null }, { revoked_at: expect.any(Number) }],
      [
        'key:update',
        { allowed_models: null, spend_limit_microusd: '5' },
        { allowed_models: ['aud-v4'], spend_limit_microusd: '9' },
      ],
      ['key:create', null, expect.objectContaining({ name: 'ci', spend_limit_microusd: '5' })],
      ['account:credit', { balance_microusd: '0' }, { balance_microusd: '700' }],
      ['account:update', { name: 'before' }, { name: 'after' }],
      ['account:create', null, expect.objectContaining({ name: 'before', disabled: false })],
    ]);
    const { key: secret } = key as { key?: string };
    expect(secret).toMatch(/^sk-/);
    expect(JSON.stringify(await listed('limit=100'))).not.toContain(secret);
  });

  it('shows no change where a key was used again, which moves nothing', async () => {
    const account = (await ask('POST', 'accounts', { name: 'twice' })).json.id ?? '';
    const credit = () => ask('POST', `accounts/${account}/credits`, { amount_microusd: '700' });
    const entry = (await credit()).json.id;
    expect((await credit()).json.id).toBe(entry);
    const acts = (await listed('limit=2')).map(({ made, before, after }) => [made, before, after]);
    expect(acts).toEqual([
      [entry, null, null],
      [entry, { balance_microusd: '0' }, { balance_microusd: '700' }],
    ]);
  });

  it('is found by person, object, kind and time', async () => {
    const account = (await ask('POST', 'accounts', { name: 'found' })).json.id ?? '';
    await ask('PATCH', `accounts/${account}`, { disabled: true });
    const actions = gateway.app.get(OperatorActions, { strict: false });
    const cli = { actor: 'cli:anna', action: 'account:update', target: account, address: null };
    await actions.perform(cli, () => Promise.resolve({}));
    // As version 0.1.0 wrote it.
    const old = { ...cli, actor: ACTOR, action: 'PATCH /admin/accounts/:id' };
    await actions.perform(old, () => Promise.resolve({}));
    const found = async (query: string) =>
      (await listed(`target=${account}&${query}`)).map(({ actor, action }) => [actor, action]);
    const updated = [ACTOR, 'account:update'];
    expect(await found('')).toEqual([
      updated,
      ['cli:anna', 'account:update'],
      updated,
      [ACTOR, 'account:create'],
    ]);
    expect(await found('actor=cli:anna')).toEqual([['cli:anna', 'account:update']]);
    expect(await found(`action=account:update&actor=${ACTOR}`)).toEqual([updated, updated]);
    expect(await found('action=account:create')).toEqual([[ACTOR, 'account:create']]);
    const now = Math.floor(Date.now() / 1000);
    expect(await found(`created_after=${now - 600}&created_before=${now + 600}`)).toHaveLength(4);
    expect(await found(`created_before=${now - 600}`)).toEqual([]);
    const empty = await fetch(
      `${gateway.url}/admin/operator-actions?created_after=${now}&created_before=${now}`,
      { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
    );
    expect(empty.status).toBe(400);
  });

  it('has the name of a command for every call that changes something', async () => {
    const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const calls = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/admin'))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
      .filter((call) => !call.startsWith('GET'))
      .map((call) => call.replace(/\{(\w+)\}/g, ':$1'));
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.map(actOf).filter((act) => declarationOf(act) === undefined)).toEqual([]);
  });

  it('contains no key that was sent in place of an id', async () => {
    const { key } = await gateway.account();
    expect((await ask('DELETE', `keys/${key}`)).status).toBe(404);
    const all = await recorded();
    expect(all.at(-1)).toMatchObject({ action: 'key:revoke', target: 'sk-[redacted]' });
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

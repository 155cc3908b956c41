import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperatorToken } from '../../../src/auth/operators/operator-token.js';
import type { Role } from '../../../src/auth/operators/role.js';
import { ConsoleSessions } from '../../../src/auth/sessions/console-sessions.js';
import { fromPublicId, toPublicId } from '../../../src/common/ids/public-id.js';
import { AdminHarness, createdId, expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway } from '../../support/gateway.js';
import { startTaskHarness, type TaskHarness } from '../../support/task-harness.js';

let harness: TaskHarness;
let desk: AdminHarness;
let task: string;

beforeAll(async () => {
  harness = await startTaskHarness();
  desk = await AdminHarness.start(harness.gateway);
  const submitted = await harness.submit(await harness.gateway.account(1_000_000n), {
    plan: 'html',
  });
  await harness.run();
  task = toPublicId('task', submitted.id);
  const decision = { outcome: 'succeeded', result: { words: 'a secret of the customer' } };
  expect((await desk.post(`/tasks/${task}/resolve`, decision)).status).toBe(200);
});
afterAll(() => harness.stop());

/** A browser with a session in this role, as the identity provider would have given it. */
async function as(role: Role): Promise<ConsoleBrowser> {
  const { app, url } = harness.gateway;
  const actor = app.get(OperatorToken, { strict: false }).actor ?? '';
  const person = `${role}@example.com`;
  const { secret } = await app
    .get(ConsoleSessions, { strict: false })
    .open({ kind: 'operator', actor, role, person }, null, new Date());
  const browser = new ConsoleBrowser(url);
  browser.cookies.set('shim', secret);
  return browser;
}

const looks = async () =>
  (await desk.list(`/operator-actions?action=task:look&target=${task}`)).data;

describe('what a role shows', () => {
  it('is amounts and no content to a viewer, and the record has no look', async () => {
    const viewer = await as('viewer');
    const whole = (await desk.get(`/tasks/${task}`)).json as Record<string, unknown>;
    expect(whole.result).not.toBeNull();
    const seen = (await viewer.get(`/api/admin/tasks/${task}`)).json as Record<string, unknown>;
    expect(seen).toEqual({ ...whole, result: null, provider_error: null, cost_microusd: null });
    expect(await looks()).toEqual([]);
  });

  it('is content to support, each look recorded with the person before it is answered', async () => {
    const support = await as('support');
    for (let read = 0; read < 3; read += 1) {
      const answer = await support.get(`/api/admin/tasks/${task}`);
      expect(answer.json).toMatchObject({ result: { words: 'a secret of the customer' } });
    }
    const look = { person: 'support@example.com', role: 'support', outcome: 'done' };
    expect(await looks()).toMatchObject([look]);
    await (await as('finance')).get(`/api/admin/tasks/${task}`);
    expect(await looks()).toMatchObject([{ person: 'finance@example.com' }, look]);
  });

  it('is no content in a session of a portal link, which support may make and open', async () => {
    const { account_id: account } = (await desk.get(`/tasks/${task}`)).json as Record<
      string,
      string
    >;
    const support = await as('support');
    const link = await support.post(`/api/admin/accounts/${account}/portal-links`, {});
    const portal = (link.json as { url: string }).url.split('#portal=')[1];
    const browser = new ConsoleBrowser(harness.gateway.url);
    expect((await browser.signIn({ portal })).status).toBe(201);
    const { json } = await browser.get('/api/v1/tasks');
    expect((json as { data: unknown[] }).data).toMatchObject([{ id: task, result: null }]);
    for (const path of ['', '/events', '/content', '/deliveries']) {
      await expectError(browser.get(`/api/v1/tasks/${task}${path}`), 403, 'permission_denied');
    }
    const key = await harness.gateway.keyOf(fromPublicId('acct', account ?? '') ?? '');
    const holder = new ConsoleBrowser(harness.gateway.url);
    await holder.signIn({ api_key: key });
    const whole = (await holder.get('/api/v1/tasks')).json as { data: unknown[] };
    expect(whole.data).toMatchObject([{ result: { words: 'a secret of the customer' } }]);
  });

  it.each(['viewer', 'support', 'finance', 'admin'] as const)(
    'is no content in a list: %s',
    async (role) => {
      const answer = await (await as(role)).get('/api/admin/tasks');
      const { data } = answer.json as { data: Record<string, unknown>[] };
      expect(data).toMatchObject([{ id: task, result: null }]);
    },
  );

  it.each([
    ['viewer', 403],
    ['support', 403],
    ['finance', 200],
  ] as const)('is costs from finance on: %s gets %i', async (role, status) => {
    const browser = await as(role);
    expect((await browser.get('/api/admin/margin?group_by=day')).status).toBe(status);
    expect((await browser.get('/api/admin/usage?group_by=day&format=csv')).status).toBe(status);
    const usage = await browser.get('/api/admin/usage?group_by=day');
    for (const row of (usage.json as { data: Record<string, unknown>[] }).data) {
      if (status === 403) expect(row).toMatchObject({ cost_microusd: null, margin_microusd: null });
    }
    const overview = (await browser.get('/api/admin/overview')).json;
    if (status === 403) expect(JSON.stringify(overview)).not.toMatch(/margin_microusd":"/);
  });

  it.each([
    ['viewer', 'https://hooks.example.com'],
    ['support', 'https://hooks.example.com/hooks/a-secret-path?token=a-secret-token'],
  ] as const)('is of the URL of a webhook, to %s: %s', async (role, url) => {
    const account = await desk.newAccount();
    const path = `/accounts/${account}/webhook-endpoints`;
    const body = {
      url: 'https://hooks.example.com/hooks/a-secret-path?token=a-secret-token',
      secret: 'a-secret-of-16-or-more',
      events: ['balance.low'],
    };
    const id = createdId(await desk.post(path, body));
    const tested = await desk.post(`${path}/${id}/test`, {});
    expect(tested.status).toBe(202);
    const { id: delivery } = tested.json as { id: string };
    const browser = await as(role);
    const paths = [`${path}/${id}`, path, `/webhook-deliveries/${delivery}`, '/webhook-deliveries'];
    for (const read of paths) {
      const { json } = await browser.get(`/api/admin${read}`);
      const [shown] = (json as { data?: unknown[] }).data ?? [json];
      expect(shown).toMatchObject({ url });
    }
  });

  it('is all to the token itself', async () => {
    const { data } = await desk.list('/tasks');
    expect(data).toMatchObject([{ result: { words: 'a secret of the customer' } }]);
  });
});

describe('a session on another gateway of the same database', () => {
  it('is known there, unless ADMIN_TOKEN is another one', async () => {
    const { config } = harness.gateway;
    const DATABASE_URL = config.databaseUrl ?? '';
    const [same, changed] = await Promise.all([
      startTestGateway({ DATABASE_URL }),
      startTestGateway({ DATABASE_URL, ADMIN_TOKEN: `${ADMIN_TOKEN}-changed` }),
    ]);
    const browser = new ConsoleBrowser(harness.gateway.url);
    expect((await browser.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    const { cookieHeader: cookie } = browser;
    const path = '/api/admin/accounts';
    expect((await new ConsoleBrowser(same.url).get(path, { cookie })).status).toBe(200);
    await expectError(new ConsoleBrowser(changed.url).get(path, { cookie }), 401, 'invalid_token');
    expect((await browser.signOut()).status).toBe(204);
    await expectError(new ConsoleBrowser(same.url).get(path, { cookie }), 401, 'invalid_token');
    await Promise.all([same.stop(), changed.stop()]);
  });
});

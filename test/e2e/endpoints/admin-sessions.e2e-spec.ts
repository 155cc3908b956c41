import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../../src/common/time/clock.js';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';

let gateway: TestGateway;
let desk: AdminHarness;

beforeAll(async () => {
  gateway = await startTestGateway();
  desk = await AdminHarness.start(gateway);
});
afterAll(() => desk.stop());

interface Link {
  readonly url: string;
  readonly expires_at: number;
}

async function madeLink(account: string): Promise<{ link: Link; portal: string }> {
  const answer = await desk.post(`/accounts/${account}/portal-links`, { scopes: ['read'] });
  expect(answer.status).toBe(201);
  const link = answer.json as Link;
  const [page, portal = ''] = link.url.split('#portal=');
  expect(page).toBe(`${gateway.url}/console/`);
  expect(portal).toMatch(/^[\w-]{43}$/);
  return { link, portal };
}

async function customer() {
  const { accountId, key } = await gateway.account(1_000n);
  return { account: toPublicId('acct', accountId), key };
}

describe('a portal link', () => {
  it('opens a session of the account that reads only', async () => {
    const { account } = await customer();
    const { link, portal } = await madeLink(account);
    expect(link).toMatchObject({ object: 'portal_link', scopes: ['read'] });
    const browser = new ConsoleBrowser(gateway.url);
    const answer = await browser.signIn({ portal });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      kind: 'customer',
      account_id: account,
      key_id: null,
      scopes: ['read'],
      reads_only: true,
    });
    expect((await browser.get('/api/v1/account')).json).toMatchObject({ id: account });
    for (const path of ['/executions', '/tasks', '/usage', '/ledger', '/runs']) {
      expect((await browser.get(`/api/v1${path}`)).status).toBe(200);
    }
    const speech = { model: 'aud-v4', input: 'hello', voice: 'Adam' };
    for (const path of ['/models', '/models/aud-v4', '/voices']) {
      expect((await browser.get(`/api/v1${path}`)).status).toBe(200);
    }
    const quoted = { path: '/v1/audio/speech', body: speech };
    const quote = await browser.post('/api/v1/quotes', quoted);
    expect([quote.status, quote.json]).toMatchObject([200, { charge_microusd: '600' }]);
    const refused = [
      browser.post('/api/v1/audio/speech', speech),
      browser.get('/api/v1/keys'),
      browser.post('/api/v1/keys', {}),
    ];
    for (const call of refused) await expectError(call, 403, 'permission_denied', 'scopes');
    await expectError(browser.get('/api/v1/key'), 403, 'permission_denied', 'scopes');
  });

  it('is good once, also where several use it at once', async () => {
    const { account } = await customer();
    const { portal } = await madeLink(account);
    const browsers = Array.from({ length: 6 }, () => new ConsoleBrowser(gateway.url));
    const answers = await Promise.all(browsers.map((browser) => browser.signIn({ portal })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401, 401]);
    const replayed = new ConsoleBrowser(gateway.url).signIn({ portal });
    await expectError(replayed, 401, 'invalid_token', 'portal');
  });

  it('tells whom it lets in without being used up, and only the page of the gateway', async () => {
    const { account } = await customer();
    const { portal } = await madeLink(account);
    const browser = new ConsoleBrowser(gateway.url);
    for (let look = 0; look < 2; look += 1) {
      const answer = await browser.post('/session/portal', { portal });
      expect([answer.status, answer.json]).toEqual([200, { account_id: account }]);
    }
    expect(browser.cookies.size).toBe(0);
    const foreign = browser.post('/session/portal', { portal }, { 'sec-fetch-site': 'cross-site' });
    await expectError(foreign, 403, 'permission_denied', 'Sec-Fetch-Site');
    expect((await browser.signIn({ portal })).status).toBe(201);
    const used = browser.post('/session/portal', { portal });
    await expectError(used, 401, 'invalid_token', 'portal');
  });

  it('is good for ten minutes', async () => {
    const { account } = await customer();
    const { link, portal } = await madeLink(account);
    const clock = gateway.app.get(Clock);
    const nowMs = clock.nowMs.bind(clock);
    expect(link.expires_at).toBeLessThanOrEqual(nowMs() / 1_000 + 600);
    // It does not go back, which would be a minute of sign-ins in the future.
    clock.nowMs = () => nowMs() + 600_001;
    const late = new ConsoleBrowser(gateway.url).signIn({ portal });
    await expectError(late, 401, 'invalid_token', 'portal');
  });

  it.each([[{ scopes: ['call'] }], [{ scopes: [] }], [{ scope: ['read'] }]])(
    'is not made of %j',
    async (body) => {
      const { account } = await customer();
      const answer = desk.post(`/accounts/${account}/portal-links`, body);
      await expectError(answer, 400, 'invalid_request');
    },
  );

  it('is for an account that exists, and is recorded without its secret', async () => {
    const unknown = toPublicId('acct', '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f7a');
    await expectError(desk.post(`/accounts/${unknown}/portal-links`, {}), 404, 'not_found');
    const { account } = await customer();
    const { portal } = await madeLink(account);
    const actions = await desk.list(`/operator-actions?target=${account}`);
    expect(actions.data).toMatchObject([{ action: 'account:portal-link', outcome: 'done' }]);
    expect(JSON.stringify(actions)).not.toContain(portal);
  });

  it('opens nothing for a disabled account', async () => {
    const { account } = await customer();
    const { portal } = await madeLink(account);
    expect((await desk.ask('PATCH', `/accounts/${account}`, { disabled: true })).status).toBe(200);
    const browser = new ConsoleBrowser(gateway.url);
    await browser.signIn({ portal });
    await expectError(browser.get('/api/v1/account'), 403, 'account_disabled');
  });
});

describe('sessions', () => {
  it('are listed, newest first, page by page, and ended by an admin', async () => {
    const { account, key } = await customer();
    const [operator, keyHolder] = [
      new ConsoleBrowser(gateway.url),
      new ConsoleBrowser(gateway.url),
    ];
    await operator.signIn({ token: ADMIN_TOKEN });
    await keyHolder.signIn({ api_key: key });
    const { data } = await desk.list('/sessions');
    expect(data.slice(0, 2)).toMatchObject([
      { kind: 'customer', account_id: account, api_key_id: expect.stringMatching(/^key_/) },
      { kind: 'operator', role: 'admin', person: null, account_id: null, api_key_id: null },
    ]);
    const first = await desk.list('/sessions?limit=1');
    const second = await desk.list(`/sessions?limit=1&cursor=${first.next_cursor}`);
    expect([first.data[0]?.id, second.data[0]?.id]).toEqual([data[0]?.id, data[1]?.id]);
    const ended = String(data[0]?.id);
    const secret = keyHolder.cookies.get('shim') ?? 'none';
    expect(JSON.stringify(data)).not.toContain(secret);
    expect((await keyHolder.get('/api/v1/account')).status).toBe(200);
    expect((await operator.ask('DELETE', `/api/admin/sessions/${ended}`)).status).toBe(204);
    await expectError(keyHolder.get('/api/v1/account'), 401, 'invalid_token');
    await expectError(desk.ask('DELETE', `/sessions/${ended}`), 404, 'not_found');
    await expectError(desk.ask('DELETE', '/sessions/ses_1'), 404, 'not_found');
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../../src/common/time/clock.js';
import { HOUR_MS } from '../../../src/common/time/spans.js';
import { AdminHarness, createdId, expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';

const COOKIE = /^shim=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/;

let gateway: TestGateway;
let desk: AdminHarness;
let aheadMs = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  desk = await AdminHarness.start(gateway);
  const clock = gateway.app.get(Clock);
  const nowMs = clock.nowMs.bind(clock);
  clock.nowMs = () => nowMs() + aheadMs;
});
afterAll(() => desk.stop());

async function signedIn(body: object = { token: ADMIN_TOKEN }): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(gateway.url);
  // Nobody may sign in more than 60 times a minute.
  aheadMs += 1_000;
  expect((await browser.signIn(body)).status).toBe(201);
  return browser;
}

describe('a session of an operator', () => {
  it('is opened with the token, has a cookie that no script reads, and calls /admin', async () => {
    const browser = new ConsoleBrowser(gateway.url);
    const answer = await browser.signIn({ token: ADMIN_TOKEN });
    expect(answer.status).toBe(201);
    const [line] = answer.headers.getSetCookie();
    expect(line).toMatch(COOKIE);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.json).toMatchObject({
      kind: 'operator',
      role: 'admin',
      person: null,
      account_id: null,
      reads_only: false,
      sign_in: { operator: true, refused: null },
    });
    expect((await browser.get('/session')).json).toEqual(answer.json);
    const accounts = await browser.get('/api/admin/accounts?limit=1');
    expect(accounts.json).toMatchObject({ object: 'list' });
    expect(accounts.headers.get('cache-control')).toBe('no-store');
  });

  it('ends by signing out, also where many requests sign out at once', async () => {
    const browser = await signedIn();
    const stolen = browser.cookieHeader;
    const all = await Promise.all(Array.from({ length: 8 }, () => browser.signOut()));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 204));
    expect(browser.cookies.size).toBe(0);
    await expectError(browser.get('/api/admin/accounts', { cookie: stolen }), 401, 'invalid_token');
  });

  it('stays ended if it is used while it is signed out', async () => {
    const browser = await signedIn();
    const cookie = browser.cookieHeader;
    // The use of a session is written once a minute.
    aheadMs += 120_000;
    const reads = Array.from({ length: 8 }, () => browser.get('/api/admin/accounts?limit=1'));
    await Promise.all([...reads, browser.signOut()]);
    await expectError(browser.get('/api/admin/accounts', { cookie }), 401, 'invalid_token');
  });

  it('ends after an hour without use, and 12 hours after it was opened in any case', async () => {
    const [used, unused] = await Promise.all([signedIn(), signedIn()]);
    for (let halfHours = 0; halfHours < 23; halfHours += 1) {
      aheadMs += HOUR_MS / 2;
      expect((await used.get('/session')).status).toBe(200);
    }
    await expectError(unused.get('/api/admin/accounts'), 401, 'invalid_token');
    aheadMs += HOUR_MS / 2 + 1;
    await expectError(used.get('/api/admin/accounts'), 401, 'invalid_token');
  });

  it('ends after an hour without use also while its page asks by itself', async () => {
    const browser = await signedIn();
    const poll = { 'x-console-poll': '1' };
    for (let minutes = 0; minutes < 55; minutes += 5) {
      aheadMs += HOUR_MS / 12;
      expect((await browser.get('/session', poll)).status).toBe(200);
      expect((await browser.get('/api/admin/accounts?limit=1', poll)).status).toBe(200);
    }
    aheadMs += HOUR_MS / 12;
    await expectError(browser.get('/api/admin/accounts', poll), 401, 'invalid_token');
    expect((await browser.get('/session')).status).toBe(401);
  });

  it('is a new one whatever cookie the browser had, and the former one ends', async () => {
    const browser = await signedIn();
    const former = browser.cookieHeader;
    expect((await browser.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    expect(browser.cookieHeader).not.toBe(former);
    await expectError(browser.get('/api/admin/accounts', { cookie: former }), 401, 'invalid_token');
    const planted = new ConsoleBrowser(gateway.url);
    planted.cookies.set('shim', 'A'.repeat(43));
    expect((await planted.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    expect(planted.cookieHeader).not.toContain('AAAA');
  });

  it('is one of at most 50, and a further one ends the oldest', async () => {
    const oldest = await signedIn();
    for (let opened = 0; opened < 50; opened += 1) await signedIn();
    await expectError(oldest.get('/api/admin/accounts'), 401, 'invalid_token');
  });
});

describe('signing in', () => {
  it.each([
    [{}],
    [{ token: ADMIN_TOKEN, api_key: 'sk-1' }],
    [{ token: 1 }],
    [{ password: 'x' }],
    [[]],
  ])('with %j is 400', async (body) => {
    await expectError(
      new ConsoleBrowser(gateway.url).post('/session', body),
      400,
      'invalid_request',
    );
  });

  it('without a session tells the ways beside the 401', async () => {
    const answer = await new ConsoleBrowser(gateway.url).get('/session');
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({
      error: { code: 'invalid_token', param: 'Cookie' },
      sign_in: { operator: true, oidc: false, refused: null },
    });
  });

  it.each([
    ['half of it', (cookie: string) => cookie.slice(0, 25)],
    ['another character at its end', (cookie: string) => `${cookie.slice(0, -2)}!!`],
    ['it twice, with another value', (cookie: string) => `${cookie}; shim=${'A'.repeat(43)}`],
    ['an empty one', () => 'shim='],
    ['no equals sign', () => 'shim'],
    ['the name of the cookie of HTTPS', (cookie: string) => `__Host-${cookie}`],
    ['a long one', () => `shim=${'A'.repeat(4_000)}`],
  ])('is needed again where the cookie is damaged: %s', async (_what, damage) => {
    const browser = await signedIn();
    const cookie = damage(browser.cookieHeader);
    await expectError(browser.get('/api/admin/accounts', { cookie }), 401, 'invalid_token');
  });

  it('with wrong tokens counts as guessing, together with those of /admin', async () => {
    const own = await startTestGateway();
    const browser = new ConsoleBrowser(own.url);
    const wrong = () => browser.signIn({ token: 'a-wrong-token-0123456789' });
    for (let guesses = 0; guesses < 10; guesses += 1) {
      await expectError(wrong(), 401, 'invalid_token', 'token');
    }
    await expectError(wrong(), 429, 'rate_limit_exceeded');
    await expectError(browser.signIn({ token: ADMIN_TOKEN }), 429, 'rate_limit_exceeded');
    const admin = send(`${own.url}/admin/accounts`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    await expectError(admin, 429, 'rate_limit_exceeded');
    await own.stop();
  });
});

describe('/v1 and /admin', () => {
  it('read no cookie', async () => {
    const { key } = await gateway.account(1_000n);
    const [operator, customer] = [await signedIn(), await signedIn({ api_key: key })];
    for (const [path, { cookieHeader: cookie }] of [
      ['/admin/accounts', operator],
      ['/v1/account', customer],
    ] as const) {
      const headers = { cookie, 'sec-fetch-site': 'same-origin' };
      await expectError(send(`${gateway.url}${path}`, { headers }), 401, 'invalid_token');
    }
    expect((await customer.get('/api/v1/account')).status).toBe(200);
    await expectError(customer.get('/api/admin/accounts'), 403, 'permission_denied');
    await expectError(operator.get('/api/v1/account'), 403, 'permission_denied');
  });

  it('are all that is served below /console/api', async () => {
    const browser = await signedIn();
    for (const path of ['', '/', '/metrics', '/health/live', '/v1', '//admin/accounts', '/docs']) {
      expect((await browser.get(`/api${path}`)).status).toBe(404);
    }
  });
});

describe('money', () => {
  const reason = encodeURIComponent('Überweisung 17');

  it('needs a proof that is not older than 5 minutes and a reason, which is recorded', async () => {
    const browser = await signedIn();
    const account = createdId(await browser.post('/api/admin/accounts', { name: 'acme' }));
    const credit = (headers: Record<string, string>) =>
      browser.post(
        `/api/admin/accounts/${account}/credits`,
        { amount_microusd: '5' },
        { 'idempotency-key': 'one', ...headers },
      );
    await expectError(credit({}), 400, 'invalid_request', 'x-console-reason');
    await expectError(credit({ 'x-console-reason': '%ff' }), 400, 'invalid_request');
    await expectError(credit({ 'x-console-reason': 'a'.repeat(501) }), 400, 'invalid_request');
    aheadMs += 300_001;
    await expectError(credit({ 'x-console-reason': reason }), 403, 'permission_denied', 'proof');
    await expectError(
      browser.post('/session/proof', { token: 'a-wrong-token-0123456789' }),
      401,
      'invalid_token',
    );
    const proved = await browser.post('/session/proof', { token: ADMIN_TOKEN });
    expect(proved.status).toBe(200);
    expect((await credit({ 'x-console-reason': reason })).status).toBe(201);
    const actions = await desk.list(`/operator-actions?target=${account}&action=account:credit`);
    expect(actions.data[0]).toMatchObject({
      role: 'admin',
      person: null,
      reason: 'Überweisung 17',
      outcome: 'done',
      amount_microusd: '5',
    });
  });

  it('needs neither with the token itself', async () => {
    const account = await desk.newAccount();
    expect((await desk.credit(account, { amount_microusd: '5' })).status).toBe(201);
  });
});

describe('a session of a customer', () => {
  it('calls as the key, and ends with it', async () => {
    const { key, accountId } = await gateway.account(1_000_000n);
    const browser = await signedIn({ api_key: key });
    expect((await browser.get('/session')).json).toMatchObject({
      kind: 'customer',
      role: null,
      scopes: ['read', 'call'],
      reads_only: false,
      proof_until: null,
    });
    const hello = { model: 'aud-v4', input: 'hello', voice: 'Adam' };
    const speech = await browser.post('/api/v1/audio/speech', hello);
    expect(speech.status).toBe(200);
    expect((await gateway.balance(accountId)).available).toBeLessThan(1_000_000n);
    const { id } = (await browser.get('/api/v1/key')).json as { id: string };
    expect((await desk.ask('DELETE', `/keys/${id}`)).status).toBe(204);
    await expectError(browser.get('/api/v1/account'), 401, 'invalid_token');
    expect((await browser.get('/session')).status).toBe(401);
  });

  it('has no more scopes than the key', async () => {
    const { key } = await gateway.account(1_000n, { scopes: ['read'] });
    const browser = await signedIn({ api_key: key });
    expect((await browser.get('/session')).json).toMatchObject({ reads_only: true });
    await expectError(
      browser.post('/api/v1/audio/speech', { model: 'aud-v3', input: 'a', voice: 'nova' }),
      403,
      'permission_denied',
      'scopes',
    );
  });

  it('is refused for an unknown key', async () => {
    const browser = new ConsoleBrowser(gateway.url);
    const unknown = `sk-${'a'.repeat(43)}`;
    await expectError(browser.signIn({ api_key: unknown }), 401, 'invalid_token', 'api_key');
    expect(browser.cookies.size).toBe(0);
  });
});

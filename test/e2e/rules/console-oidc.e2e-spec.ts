import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Clock } from '../../../src/common/time/clock.js';
import { AdminHarness, createdId, expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import {
  OIDC_CLIENT,
  SigningPerson,
  TestIdentityProvider,
} from '../../support/identity-provider.js';

const ROLES =
  'groups=ops:admin,groups=money:finance,groups=help:support,email=eve@example.com:viewer';
const REASON = { 'x-console-reason': 'ticket%2017' };

let provider: TestIdentityProvider;
let gateway: TestGateway;
let desk: AdminHarness;
let browser: ConsoleBrowser;

beforeAll(async () => {
  provider = await TestIdentityProvider.start();
  gateway = await startTestGateway({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: OIDC_CLIENT.id,
    OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
    OIDC_ROLES: ROLES,
  });
  provider.serve(gateway.url);
  desk = await AdminHarness.start(gateway);
  const person = (name: string, ...groups: string[]) =>
    provider.people.set(name, { email: `${name}@example.com`, email_verified: true, groups });
  person('jo', 'help', 'ops');
  person('fin', 'money');
  person('eve');
  person('nobody', 'cooks');
  provider.people.set('faked', { email: 'eve@example.com', email_verified: false });
  provider.people.set('unsaid', { email: 'eve@example.com' });
});
afterAll(async () => {
  await desk.stop();
  await provider.stop();
});
beforeEach(() => {
  browser = new ConsoleBrowser(gateway.url);
});

const session = async () => (await browser.get('/session')).json as Record<string, unknown>;

describe('signing in with the identity provider', () => {
  it.each([
    ['jo', 'admin'],
    ['fin', 'finance'],
    ['eve', 'viewer'],
  ])('gives %s the highest role of the claims: %s', async (name, role) => {
    const end = await new SigningPerson(browser, name).signIn('/oidc/start?return=/console/calls');
    expect(end.href).toBe(`${gateway.url}/console/calls`);
    expect(await session()).toMatchObject({
      kind: 'operator',
      role,
      person: `${name}@example.com`,
      sign_in: { operator: true, oidc: true, refused: null },
    });
    expect((await browser.get('/api/admin/accounts')).status).toBe(200);
  });

  it.each([
    ['nobody has a role without a claim', 'nobody'],
    ['an e-mail address counts only if the provider has checked it', 'faked'],
    ['an e-mail address of which the provider does not say so', 'unsaid'],
  ])('lets not everybody in: %s', async (_what, name) => {
    const end = await new SigningPerson(browser, name).signIn();
    expect(end.searchParams.get('sign_in_error')).toBe('no_role');
    expect([...browser.cookies.keys()]).toEqual([]);
  });

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/console//evil.example',
    '/console/\\evil.example',
    '/v1/models',
  ])('returns to no other place: %s', async (path) => {
    const start = `/oidc/start?return=${encodeURIComponent(path)}`;
    const end = await new SigningPerson(browser, 'jo').signIn(start);
    expect(end.href).toBe(`${gateway.url}/console/`);
  });

  it('asks with code, PKCE, state and nonce, which differ each time', async () => {
    const urls = await Promise.all([browser.get('/oidc/start'), browser.get('/oidc/start')]);
    const [one, other] = urls.map(({ headers }) => new URL(headers.get('location') ?? ''));
    expect(one?.href.startsWith(provider.issuer)).toBe(true);
    expect(Object.fromEntries(one?.searchParams ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'openid profile email groups',
      redirect_uri: `${gateway.url}/console/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(one?.searchParams.get(name)).not.toBe(other?.searchParams.get(name));
    }
  });
});

describe('a browser that has a session', () => {
  it('loses it by signing in anew, whoever signs in', async () => {
    await new SigningPerson(browser, 'jo').signIn();
    const former = browser.cookieHeader;
    expect((await browser.get('/api/admin/accounts', { cookie: former })).status).toBe(200);
    await new SigningPerson(browser, 'eve').signIn();
    await expectError(browser.get('/api/admin/accounts', { cookie: former }), 401, 'invalid_token');
    const key = await gateway.account(1_000n);
    expect((await browser.signIn({ api_key: key.key })).status).toBe(201);
    const customer = browser.cookieHeader;
    await new SigningPerson(browser, 'jo').signIn();
    await expectError(browser.get('/api/v1/account', { cookie: customer }), 401, 'invalid_token');
  });
});

describe('signing in with ADMIN_TOKEN beside the provider', () => {
  it('writes a warning with the address, and a wrong token writes none', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    const warnings = () =>
      warn.mock.calls.filter(([, text]) => String(text).includes('ADMIN_TOKEN'));
    await browser.signIn({ token: 'a-wrong-token-0123456789' });
    expect(warnings()).toEqual([]);
    expect((await browser.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    expect(warnings()).toEqual([
      [
        { address: expect.stringContaining('127.0.0.1') },
        'somebody signed in with ADMIN_TOKEN, although there is an identity provider',
      ],
    ]);
    warn.mockRestore();
  });
});

describe('an answer of the provider', () => {
  const refused = async (end: Promise<URL>) => {
    expect((await end).searchParams.get('sign_in_error')).not.toBeNull();
    expect(browser.cookies.has('shim')).toBe(false);
  };

  it('is good in the browser that asked only, and once', async () => {
    const jo = new SigningPerson(browser, 'jo');
    const answer = await jo.answerOf();
    const other = new ConsoleBrowser(gateway.url);
    const planted = await new SigningPerson(other, 'jo').comeBack(answer);
    expect(planted.searchParams.get('sign_in_error')).toBe('too_late');
    // Another browser with an attempt of its own.
    await other.get('/oidc/start');
    const mixed = await new SigningPerson(other, 'jo').comeBack(answer);
    expect(mixed.searchParams.get('sign_in_error')).not.toBeNull();
    expect(other.cookies.has('shim')).toBe(false);
    const cookies = new Map(browser.cookies);
    await jo.comeBack(answer);
    expect(browser.cookies.has('shim')).toBe(true);
    browser.cookies.clear();
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    await refused(jo.comeBack(answer));
  });

  it.each([
    ['its state', 'state'],
    ['its code', 'code'],
    ['who sent it', 'iss'],
  ])('is refused where %s was changed', async (_what, name) => {
    const jo = new SigningPerson(browser, 'jo');
    const answer = await jo.answerOf();
    answer.searchParams.set(name, 'another');
    await refused(jo.comeBack(answer));
  });

  it('is refused where the cookie of the attempt was changed', async () => {
    const jo = new SigningPerson(browser, 'jo');
    const answer = await jo.answerOf();
    const cookie = browser.cookies.get('shim-oidc') ?? '';
    browser.cookies.set('shim-oidc', cookie.replace(/\.\d+\./, `.${Date.now()}.`));
    await refused(jo.comeBack(answer));
  });
});

describe('a proof at the identity provider', () => {
  it('is needed where the last is older than 5 minutes, and is that of the same person', async () => {
    const account = await desk.newAccount();
    const fin = new SigningPerson(browser, 'fin');
    await fin.signIn();
    const credit = () =>
      browser.post(
        `/api/admin/accounts/${account}/credits`,
        { amount_microusd: '5' },
        {
          'idempotency-key': account,
          ...REASON,
        },
      );
    const clock = gateway.app.get(Clock);
    const nowMs = clock.nowMs.bind(clock);
    clock.nowMs = () => nowMs() + 301_000;
    await expectError(credit(), 403, 'permission_denied', 'proof');
    await expectError(
      browser.post('/session/proof', { token: ADMIN_TOKEN }),
      403,
      'permission_denied',
    );
    const former = browser.cookieHeader;
    clock.nowMs = nowMs;
    await fin.signIn('/oidc/start?proof=1&return=/console/accounts');
    expect((await credit()).status).toBe(201);
    const [action] = (await desk.list(`/operator-actions?target=${account}&action=account:credit`))
      .data;
    expect(action).toMatchObject({
      person: 'fin@example.com',
      issuer: provider.issuer,
      subject: 'fin',
      role: 'finance',
      reason: 'ticket 17',
      outcome: 'done',
    });
    await expectError(browser.get('/api/admin/accounts', { cookie: former }), 401, 'invalid_token');
  });
});

describe('a viewer', () => {
  it('is refused every write and every cost', async () => {
    await new SigningPerson(browser, 'eve').signIn();
    const id = await desk.newAccount();
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const writes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => path.startsWith('/admin/') && method !== 'get')
        .map((method) => [method.toUpperCase(), path.replace('{id}', id)] as const),
    );
    expect(writes.length).toBeGreaterThan(20);
    for (const [method, path] of writes) {
      const target = path.replaceAll(/\{\w+\}/g, 'any');
      const answer = await browser.ask(method, `/api${target}`, {}, REASON);
      await expectError(answer, 403, 'permission_denied', 'role');
    }
    await expectError(browser.get('/api/admin/margin'), 403, 'permission_denied', 'role');
    await expectError(browser.get('/api/admin/sessions'), 403, 'permission_denied', 'role');
    expect((await browser.get(`/api/admin/accounts/${id}`)).status).toBe(200);
  });

  it('has no way to another role: finance may credit and may not disable', async () => {
    await new SigningPerson(browser, 'fin').signIn();
    const account = await desk.newAccount();
    await expectError(
      browser.ask('PATCH', `/api/admin/accounts/${account}`, { disabled: true }, REASON),
      403,
      'permission_denied',
      'role',
    );
    createdId(await browser.post('/api/admin/accounts', { name: 'made by finance' }));
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import { expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser, OWN_PAGE } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';

const PUBLIC = 'https://gateway.example';
const HTTPS = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
const COOKIE = /^__Host-shim=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict; Secure$/;

let local: TestGateway;
let proxied: TestGateway;

beforeAll(async () => {
  [local, proxied] = await Promise.all([
    startTestGateway({ CORS_ORIGINS: '*' }),
    startTestGateway({ PUBLIC_URL: PUBLIC, TRUST_PROXY: '127.0.0.1' }),
  ]);
});
afterAll(() => Promise.all([local.stop(), proxied.stop()]));

const WRITES: readonly (readonly [string, string, object | undefined])[] = [
  ['POST', '/session', { token: ADMIN_TOKEN }],
  ['POST', '/session/proof', { token: ADMIN_TOKEN }],
  ['DELETE', '/session', undefined],
  ['POST', '/api/admin/accounts', { name: 'planted' }],
];
const CALLS = [
  ...WRITES,
  ['GET', '/session', undefined],
  ['GET', '/api/admin/accounts', undefined],
] as const;

describe('a request of another page', () => {
  const others: readonly (readonly [string, Record<string, string>])[] = [
    ['no header that says so', {}],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['an old browser and another origin', { origin: 'https://evil.example' }],
    ['an old browser and no origin', { origin: 'null' }],
    ['another page that has the right Origin', { 'sec-fetch-site': 'cross-site', origin: 'own' }],
  ];

  it.each(others)('is refused with 403 whatever it asks: %s', async (_what, headers) => {
    const browser = new ConsoleBrowser(local.url);
    expect((await browser.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    const { cookieHeader: cookie } = browser;
    const own = headers.origin === 'own' ? { ...headers, origin: local.url } : headers;
    const other = new ConsoleBrowser(local.url, own);
    for (const [method, path, body] of CALLS) {
      const answer = await other.ask(method, path, body, { cookie });
      await expectError(answer, 403, 'permission_denied', 'Sec-Fetch-Site');
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    expect((await browser.get('/session')).status).toBe(200);
  });

  it('is told apart by Origin where the browser sends no Sec-Fetch-Site', async () => {
    const old = new ConsoleBrowser(local.url, { origin: local.url });
    expect((await old.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    expect((await old.get('/api/admin/accounts')).status).toBe(200);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'cannot send a body of %s',
    async (type) => {
      const browser = new ConsoleBrowser(local.url);
      await browser.signIn({ token: ADMIN_TOKEN });
      const headers = { 'content-type': type };
      const answer = await browser.post('/api/admin/accounts', { name: 'planted' }, headers);
      await expectError(answer, 400, 'invalid_content_type');
      await expectError(
        browser.post('/session', { token: ADMIN_TOKEN }, headers),
        400,
        'invalid_content_type',
      );
    },
  );
});

describe('HTTPS', () => {
  it('is what the proxy says, and has a cookie that only HTTPS carries', async () => {
    const browser = new ConsoleBrowser(proxied.url, { ...OWN_PAGE, ...HTTPS });
    const answer = await browser.signIn({ token: ADMIN_TOKEN });
    expect(answer.status).toBe(201);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(COOKIE)]);
    expect((await browser.get('/api/admin/accounts')).status).toBe(200);
    const signedOut = await browser.signOut();
    expect(signedOut.headers.getSetCookie()).toEqual([
      '__Host-shim=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure',
    ]);
  });

  it('has the origin of PUBLIC_URL', async () => {
    const old = new ConsoleBrowser(proxied.url, { origin: PUBLIC, ...HTTPS });
    expect((await old.signIn({ token: ADMIN_TOKEN })).status).toBe(201);
    const wrong = new ConsoleBrowser(proxied.url, { origin: proxied.url, ...HTTPS });
    await expectError(wrong.signIn({ token: ADMIN_TOKEN }), 403, 'permission_denied');
  });

  it.each([
    ['the proxy says http', { 'x-forwarded-proto': 'http', 'x-forwarded-for': '203.0.113.9' }],
    ['the proxy does not say', { 'x-forwarded-for': '203.0.113.9' }],
  ])('is not assumed where %s: the page says what to set', async (_what, headers) => {
    const browser = new ConsoleBrowser(proxied.url, { ...OWN_PAGE, ...headers });
    const refused = browser.signIn({ token: ADMIN_TOKEN });
    await expectError(refused, 403, 'permission_denied', 'PUBLIC_URL');
    const answer = await browser.get('/session');
    expect(answer.status).toBe(401);
    const { sign_in: ways } = answer.json as { sign_in: { refused: string } };
    expect(ways.refused).toMatch(/X-Forwarded-Proto: https/);
  });
});

/** `fetch` sets the Host itself. */
function statusOfHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { ...OWN_PAGE, host, 'content-type': 'application/json' };
    const sent = request(`${url}/console/session`, { method: 'POST', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ token: ADMIN_TOKEN }));
  });
}

describe('plain HTTP', () => {
  it.each([
    ['localhost', 201],
    ['127.0.0.1:9', 201],
    ['[::1]:3000', 201],
    ['gateway.example', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['10.0.0.7', 403],
  ])('is for the machine itself: to %s it is %i', async (host, status) => {
    expect(await statusOfHost(local.url, host)).toBe(status);
  });

  it.each(['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip'])(
    'is refused where a proxy has sent %s',
    async (header) => {
      const browser = new ConsoleBrowser(local.url, { ...OWN_PAGE, [header]: '203.0.113.9' });
      const refused = browser.signIn({ token: ADMIN_TOKEN });
      await expectError(refused, 403, 'permission_denied', 'PUBLIC_URL');
    },
  );
});

describe('without a console', () => {
  it.each([{ CONSOLE: 'off' }, { ROLE: 'worker' }])('nobody can sign in (%j)', async (settings) => {
    const gateway = await startTestGateway(settings);
    const browser = new ConsoleBrowser(gateway.url);
    await expectError(browser.signIn({ token: ADMIN_TOKEN }), 404, 'not_found');
    await expectError(browser.get('/session'), 404, 'not_found');
    await expectError(browser.get('/api/admin/accounts'), 404, 'not_found');
    await gateway.stop();
  });

  it('no operator signs in where there is no ADMIN_TOKEN', async () => {
    const gateway = await startTestGateway({ ADMIN_TOKEN: '' });
    const browser = new ConsoleBrowser(gateway.url);
    await expectError(browser.signIn({ token: ADMIN_TOKEN }), 401, 'invalid_token');
    const { sign_in: ways } = (await browser.get('/session')).json as { sign_in: object };
    expect(ways).toMatchObject({ operator: false });
    const { key } = await gateway.account(1n);
    expect((await browser.signIn({ api_key: key })).status).toBe(201);
    expect((await send(`${gateway.url}/admin/accounts`)).status).toBe(404);
    await gateway.stop();
  });
});

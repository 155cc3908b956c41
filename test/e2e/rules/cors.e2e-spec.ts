import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromiumPath, startBrowser } from '../../support/browser.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';

const PATIENCE_MS = 120_000;
const ORIGIN = 'https://app.example';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

const SPEECH = JSON.stringify({ model: 'aud-v4', input: 'Hello', voice: 'Adam' });
const CHAT = JSON.stringify({
  model: 'gen-5-mini',
  messages: [{ role: 'user', content: 'Say one two' }],
  stream: true,
});

let pages: Server;
let pageOrigin: string;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<title>a page of another origin</title>');
  });
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  pageOrigin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  gateway = await startTestGateway({ CORS_ORIGINS: `${ORIGIN}, ${pageOrigin}` });
  account = await gateway.account();
}, PATIENCE_MS);
afterAll(async () => {
  await gateway.stop();
  pages.close();
});

const preflight = (url: string, path: string, origin: string) =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-os',
    },
  });

describe('CORS_ORIGINS', () => {
  it('lets a named origin ask beforehand, for what it needs, without credentials', async () => {
    const answer = await preflight(gateway.url, '/v1/audio/speech', ORIGIN);
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-headers': 'authorization,content-type,x-stainless-os',
      'access-control-allow-methods': expect.stringContaining('POST'),
      vary: expect.stringContaining('Origin'),
    });
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it.each([
    ['/v1/audio/speech', 'https://other.example'],
    ['/v1/audio/speech', 'null'],
    ['/admin/accounts', ORIGIN],
    ['/metrics', ORIGIN],
  ])('says nothing about %s to a page of %s', async (path, origin) => {
    for (const answer of [
      await preflight(gateway.url, path, origin),
      await fetch(gateway.url + path, { headers: { origin } }),
    ]) {
      const names = [...answer.headers.keys()];
      expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('is off by default', async () => {
    const closed = await startTestGateway();
    const answer = await preflight(closed.url, '/v1/audio/speech', ORIGIN);
    await closed.stop();
    expect(answer.status).toBe(405);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('CORS_ORIGINS beyond web pages', () => {
  it('may be *: every origin may read the answers, without a list of origins in them', async () => {
    const open = await startTestGateway({ CORS_ORIGINS: '*' });
    const asked = await preflight(open.url, '/v1/models', 'https://any.example');
    const answer = await fetch(`${open.url}/v1/models`, { headers: { origin: 'null' } });
    await open.stop();
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-expose-headers')).toMatch(/x-gateway-execution-id/);
  });

  it('may name apps and extensions', async () => {
    const origins = ['tauri://localhost', 'chrome-extension://abcdefghijklmnop', 'app://.'];
    const open = await startTestGateway({ CORS_ORIGINS: origins.join(',') });
    for (const origin of origins) {
      const answer = await preflight(open.url, '/v1/models', origin);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    }
    const other = await preflight(open.url, '/v1/models', 'tauri://other');
    await open.stop();
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describeInBrowser('a page of a named origin in a browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  }, PATIENCE_MS);
  afterAll(() => browser.close());

  it(
    'speaks, streams, and reads errors and the headers of the gateway',
    async () => {
      const page = await browser.context.newPage();
      await page.goto(pageOrigin);
      const ask = (path: string, body: string, key: string) =>
        page.evaluate(
          async ([url, sent, bearer]) => {
            const answer = await fetch(url, {
              method: 'POST',
              headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
              body: sent,
            });
            const bytes = (await answer.arrayBuffer()).byteLength;
            return {
              status: answer.status,
              bytes,
              id: answer.headers.get('x-gateway-execution-id'),
              charge: answer.headers.get('x-gateway-charge-microusd'),
            };
          },
          [gateway.url + path, body, key] as const,
        );
      expect(await ask('/v1/audio/speech', SPEECH, account.key)).toEqual({
        status: 200,
        bytes: expect.any(Number),
        id: expect.stringMatching(/^exec_/),
        charge: expect.stringMatching(/^[1-9]/),
      });
      expect(await ask('/v1/chat/completions', CHAT, account.key)).toMatchObject({ status: 200 });
      const refused = await ask('/v1/audio/speech', SPEECH, 'sk-wrong');
      expect(refused).toMatchObject({ status: 401, id: expect.stringMatching(/^exec_/) });
    },
    PATIENCE_MS,
  );

  it('is refused by the browser where its origin is not named', async () => {
    const page = await browser.context.newPage();
    await page.goto(pageOrigin.replace('127.0.0.1', 'localhost'));
    const outcome = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => 'read',
          () => 'refused',
        ),
      `${gateway.url}/v1/models`,
    );
    expect(outcome).toBe('refused');
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { wavFile } from '../../media/wav-file.js';
import { type Browser, chromiumPath, startBrowser } from '../../support/browser.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';

const PATIENCE_MS = 60_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Operation {
  readonly summary?: string;
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, Described>>;
}
interface Described {
  readonly $ref?: string;
  readonly content?: object;
}
interface OpenApi {
  readonly openapi: string;
  readonly components: { readonly responses: Readonly<Record<string, Described>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

describe('the OpenAPI document', () => {
  let operations: readonly (readonly [string, Operation])[];
  let document: OpenApi;
  /** What several operations answer is described once. */
  const resolved = (described: Described | undefined): Described | undefined =>
    described?.$ref === undefined
      ? described
      : document.components.responses[described.$ref.split('/').at(-1) ?? ''];

  beforeAll(async () => {
    document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as OpenApi;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, row]) => [`${method} ${path}`, row] as const),
    );
  });

  it('has a summary for every operation', () => {
    for (const [name, { summary }] of operations)
      expect([name, summary]).toEqual([name, expect.stringMatching(/./)]);
  });

  it('requires a key or a token and documents error responses on every operation of the API', () => {
    const api = operations.filter(([name]) => /\/(v1|admin)\b/.test(name));
    expect(api.length).toBeGreaterThan(20);
    for (const [name, { security, responses }] of api) {
      expect([name, security?.length ?? 0]).toEqual([name, 1]);
      expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['401'])]);
      expect(resolved(responses['401'])?.content).toHaveProperty(['application/json']);
    }
  });

  it('is served in one line of less than 6.7 kB for each operation, samples and examples included', async () => {
    const text = await (await fetch(`${gateway.url}/openapi.json`)).text();
    expect(text).not.toContain('\n');
    expect(Buffer.byteLength(text)).toBeLessThan(6_700 * operations.length);
  });

  it('leaves out the operator API if it is off', async () => {
    const bare = await startTestGateway({ ADMIN_TOKEN: '', PUBLIC_URL: 'https://shim.example/' });
    const text = await (await fetch(`${bare.url}/openapi.json`)).text();
    await bare.stop();
    expect(text).not.toMatch(/admin/i);
    expect(JSON.parse(text)).toMatchObject({ servers: [{ url: 'https://shim.example' }] });
    expect(text).toContain('"/v1/audio/speech"');
  });

  it('shows what a call can answer besides success', () => {
    for (const path of [
      'chat/completions',
      'images/generations',
      'audio/speech',
      'audio/transcriptions',
    ]) {
      const row = operations.find(([name]) => name === `post /v1/${path}`)?.[1];
      expect([path, Object.keys(row?.responses ?? {})]).toEqual([
        path,
        expect.arrayContaining([
          '200',
          '400',
          '401',
          '402',
          '403',
          '404',
          '413',
          '429',
          '500',
          '502',
          '503',
        ]),
      ]);
    }
  });
});

describe('the page', () => {
  const policyOf = async (path: string) =>
    (await fetch(gateway.url + path)).headers.get('content-security-policy')?.split(';').sort();

  it.each(['/docs', '/docs/swagger-ui-init.js'])(
    'runs no script but its own, sends no request elsewhere, and is in no frame: %s',
    async (path) => {
      expect(await policyOf(path)).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "font-src 'self' data:",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
      ]);
    },
  );

  it('is the only one that may do so much: every other answer may load nothing', async () => {
    for (const path of [
      '/',
      '/openapi.json',
      '/v1/models',
      '/admin/audit',
      '/health/live',
      '/none',
    ]) {
      expect([path, await policyOf(path)]).toEqual([
        path,
        ["default-src 'none'", "frame-ancestors 'none'"],
      ]);
    }
  });
});

describeInBrowser('Swagger UI in a browser', () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    page = await browser.context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error')
        complaints.push(`${message.text()} ${message.location().url}`);
    });
    await page.goto(`${gateway.url}/docs`);
  }, PATIENCE_MS);
  afterAll(() => browser.close());

  it(
    'authorizes with a key, tries the speech call as it stands, and sees 200',
    async () => {
      const { key, accountId } = await gateway.account();
      await page.click('button.authorize');
      const scheme = page.locator('.modal-ux .auth-container', { hasText: 'api-key' });
      await scheme.locator('input').fill(key);
      await scheme.locator('button.authorize').click();
      await page.click('button.btn-done');

      const speech = page.locator('.opblock', {
        has: page.locator('[data-path="/v1/audio/speech"]'),
      });
      await speech.locator('.opblock-summary-control').click();
      await speech.locator('button.try-out__btn').click();
      await speech.locator('button.execute').click();
      const status = speech.locator('.live-responses-table .response-col_status').last();
      await status.waitFor();
      expect((await status.innerText()).trim()).toMatch(/^200/);
      await speech.locator('.answer-player audio').waitFor();
      expect(await gateway.balance(accountId)).toMatchObject({ held: 0n, entries: 2 });
    },
    PATIENCE_MS,
  );

  it(
    'sends a chosen recording by the form in place of the offered URL, and no field that is empty',
    async () => {
      const form = page.locator('.opblock', {
        has: page.locator('[data-path="/v1/audio/transcriptions"]'),
      });
      await form.locator('.opblock-summary-control').click();
      await form.locator('button.try-out__btn').click();
      const recording = { name: 'tone.wav', mimeType: 'audio/wav', buffer: wavFile(8_000) };
      await form.locator('input[type=file]').first().setInputFiles(recording);
      await form.locator('button.execute').click();
      const status = form.locator('.live-responses-table .response-col_status').last();
      await status.waitFor();
      expect((await status.innerText()).trim()).toMatch(/^200/);
    },
    PATIENCE_MS,
  );

  it(
    'fits on a telephone of 390 pixels, with an operation open',
    async () => {
      const narrow = await browser.context.newPage();
      await narrow.setViewportSize({ width: 390, height: 844 });
      await narrow.goto(`${gateway.url}/docs`);
      const speech = narrow.locator('[data-path="/v1/audio/speech"]');
      await speech.click();
      await narrow.locator('.responses-table').first().waitFor();
      expect(await narrow.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await narrow.close();
    },
    PATIENCE_MS,
  );

  it('runs without an error in the console', () => {
    expect(complaints).toEqual([]);
  });
});

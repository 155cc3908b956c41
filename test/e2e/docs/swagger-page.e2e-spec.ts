import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { type Browser, chromiumPath, startBrowser } from '../../support/browser.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { SwaggerPage } from '../../support/swagger-page.js';

const START_MS = 120_000;
/** About a third of what an opened operation had with an example per error. */
const MOST_PIXELS = 2_700;
const SPEECH = '/v1/audio/speech';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser.each([1_280, 390])('Swagger UI, %i pixels wide', (width) => {
  let gateway: TestGateway;
  let account: TestAccount;
  let browser: Browser;
  let swagger: SwaggerPage;

  beforeAll(async () => {
    gateway = await startTestGateway();
    account = await gateway.account();
    browser = await startBrowser();
    swagger = await SwaggerPage.open(browser, gateway.url);
    await swagger.page.setViewportSize({ width, height: 844 });
  }, START_MS);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  /** Opens an operation and returns its part of the page. */
  async function opened(path: string): Promise<Locator> {
    const block = swagger.page.locator('.opblock-post', {
      has: swagger.page.locator(`[data-path="${path}"]`),
    });
    await block.locator('.opblock-summary-control').click();
    await block.locator('.responses-table').waitFor();
    return block;
  }

  it(
    'asks for the API key first, and says where to get one',
    async () => {
      await swagger.page.click('button.authorize');
      const first = swagger.page.locator('.modal-ux .auth-container').first();
      expect(await first.innerText()).toContain('npx shim key:create');
      expect(await first.innerText()).toContain('npx shim demo-key');
      await first.locator('input:focus').waitFor();
      expect(
        await swagger.page.evaluate("document.querySelector('.modal-ux-content').scrollTop"),
      ).toBe(0);
      await swagger.page.keyboard.type(account.key);
      await first.locator('button.authorize').click();
      await swagger.page.click('button.btn-done');
    },
    START_MS,
  );

  it(
    'keeps the key when the page is loaded again, and only in this tab',
    async () => {
      await swagger.page.reload();
      await swagger.page.locator('button.authorize.locked').waitFor();
      const { status } = await swagger.execute('get', '/v1/account');
      expect(status).toBe(200);
      const other = await SwaggerPage.open(browser, gateway.url);
      await other.page.locator('button.authorize.unlocked').waitFor();
      await other.page.close();
    },
    START_MS,
  );

  it(
    'shows a picture that a call answered',
    async () => {
      const { block, status } = await swagger.execute('post', '/v1/images/generations');
      expect(status).toBe(200);
      const picture = block.locator('.answer-pictures img').first();
      await picture.waitFor();
      const size = await picture.evaluate((node) => {
        const { naturalWidth, complete } = node as unknown as Record<string, unknown>;
        return { naturalWidth, complete };
      });
      expect(size).toEqual({ naturalWidth: expect.any(Number), complete: true });
      expect(size.naturalWidth).toBeGreaterThan(0);
    },
    START_MS,
  );

  it(
    'folds the errors of an operation into one table',
    async () => {
      const block = await opened(SPEECH);
      const { height = Infinity } = (await block.boundingBox()) ?? {};
      expect(height).toBeLessThan(MOST_PIXELS);
      expect(await block.locator('.response .response-col_status').allInnerTexts()).toEqual([
        '200',
      ]);
      await block.locator('.operation-errors summary').click();
      const rows = await block.locator('.operation-errors tbody tr').allInnerTexts();
      expect(rows.map((row) => row.split('\t').slice(0, 2))).toEqual(
        expect.arrayContaining([
          ['402', 'insufficient_funds'],
          ['404', 'model_not_available'],
          ['429', 'rate_limit_exceeded'],
        ]),
      );
      expect(await swagger.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await swagger.close('post', SPEECH);
    },
    START_MS,
  );

  it.each([
    ['credit', 'POST', '/admin/accounts/{id}/credits'],
    ['createDubbing', 'POST', '/v1/audio/dubbing'],
    ['forced alignment', 'POST', '/v1/audio/alignment'],
    ['voices', 'GET', '/v1/voices'],
  ])('finds operations by any word of theirs: %s', async (phrase, method, path) => {
    const { page } = swagger;
    const all = await page.locator('.opblock').count();
    expect(await page.getByPlaceholder('Search: path, name').count()).toBe(1);
    await page.locator('.operation-filter-input').fill(phrase);
    const found = page.locator(`.opblock-${method.toLowerCase()}`, {
      has: page.locator(`[data-path="${path}"]`),
    });
    await found.waitFor();
    await page.waitForFunction(`document.querySelectorAll('.opblock').length < ${String(all)}`);
    await page.locator('.operation-filter-input').fill('');
    await page.waitForFunction(`document.querySelectorAll('.opblock').length === ${String(all)}`);
  });

  it('runs without an error of a script or in the console', () => {
    expect(swagger.complaints).toEqual([]);
  });
});

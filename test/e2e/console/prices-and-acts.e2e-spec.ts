import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import type { TestAccount } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const PATIENCE_MS = 180_000;
const MARKUP = '<img src=x onerror="document.title=1">';
const OWN_MODEL = `own/${MARKUP}`;
const COST = {
  unit: 'token',
  input_micro_usd_per_million: 1_000_000,
  cached_input_micro_usd_per_million: 100_000,
  output_micro_usd_per_million: 11_000_000,
};
const ROUTES = [{ provider: 'openai', upstream_model: 'gpt-5', cost: COST }];
const OVERLAY = {
  models: [
    { id: 'gen-5', routes: ROUTES, limits: { max_output_tokens: 64_000 } },
    {
      ...{ id: OWN_MODEL, operation: 'chat', routes: ROUTES, price: COST },
      limits: { max_output_tokens: 8_000 },
    },
  ],
};
const BROKEN = '{\n  "models": [\n    { "id": abc }\n  ]\n}';
const FAULTY =
  '{\n  "models": [\n    { "id": "gen-5" },\n    { "id": "gen-4",\n      "foo": 1 }\n  ]\n}';
const NEW =
  '{ "models": [{ "id": "aud-v4", "price": { "unit": "code_point", "micro_usd": 150 } }] }';
const BOOK = '{ "id": "partners", "factor_permille": 900 }';
const WRONG_BOOK =
  '{ "id": "partners",\n  "models": [\n    { "id": "none", "price": { "unit": "token" } }\n  ]\n}';
const NEXT_BOOK = `{
  "factor_permille": 800,
  "models": [{ "id": "aud-v4", "price": { "unit": "code_point", "micro_usd": 100 } }]
}`;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('models, prices and acts in the console', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let accountId: string;

  beforeAll(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'overlay-')), 'catalog.json');
    writeFileSync(file, JSON.stringify(OVERLAY));
    desk = await ConsoleDesk.start({ CATALOG_FILE: file });
    account = await desk.gateway.account();
    accountId = toPublicId('acct', account.accountId);
    await postJson(`${desk.gateway.url}/v1/audio/speech`, account.headers, HELLO);
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  async function seen(...shown: readonly (string | RegExp)[]) {
    for (const text of shown) {
      await desk.page.getByText(text).filter({ visible: true }).first().waitFor();
    }
  }
  /** Proves that what is open is as it has to be at every size. */
  async function isWell() {
    expect(await desk.faults()).toEqual([]);
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    expect(desk.complaints).toEqual([]);
  }
  async function look(path: string, heading: string, shown: readonly (string | RegExp)[]) {
    await desk.open(path, heading);
    await seen(...shown);
    await isWell();
  }
  const rowOf = (text: string) => desk.page.getByRole('row').filter({ hasText: text });

  it(
    'are listed with price, cost, least margin, and what the file changed',
    async () => {
      const price = '$1.25 input, $10.00 output';
      await look('/models', 'Models and prices', [price, 'added by the file', OWN_MODEL]);
      const row = rowOf(price).filter({ hasText: 'changed by the file' });
      expect(await row.innerText()).toMatch(/\$11\.00 output\s+per million tokens\s+−10 %/);
      await desk.open('/models?source=changed', 'Models and prices');
      await seen('1 model', 'gen-5');
      await desk.press('gen-5', 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'gen-5' }).waitFor();
      await look('/models/gen-5', 'gen-5', ['limits.max_output_tokens', '64000', '128000', '20 %']);
      await desk.open('/models', 'Models and prices');
      await desk.press(OWN_MODEL, 'link');
      await desk.page.getByRole('heading', { level: 1, name: OWN_MODEL }).waitFor();
      await seen('All of it: no such model is built in.', 'from then on');
      await isWell();
    },
    PATIENCE_MS,
  );

  it(
    'have the price over time, and say of a model that is gone that it is not sold',
    async () => {
      await look('/price-changes?model=gen-5', 'Models and prices', ['not sold', '$1.25']);
      await look('/models/gone', 'gone', ['not sold now', 'No change of this price is recorded.']);
    },
    PATIENCE_MS,
  );

  it(
    'have a check of a file, which names the line of each fault, or what would change',
    async () => {
      await desk.open('/catalog-check', 'Models and prices');
      await desk.type('textbox', 'Content of the file', BROKEN);
      await seen('Line 3: This is no JSON.');
      await desk.type('textbox', 'Content of the file', FAULTY);
      await desk.press('Check');
      await seen(/^Line 5:/, /models\.1\.foo/);
      await isWell();
      const file = { name: 'new.json', mimeType: 'application/json', buffer: Buffer.from(NEW) };
      await desk.page.locator('input[type=file]').setInputFiles(file);
      await desk.press('Check');
      await seen(
        'A gateway would start with this file.',
        'price.micro_usd',
        '$0.00012',
        '$0.00015',
      );
      // What the file of now changed would be as it is built in.
      expect(await rowOf('limits.max_output_tokens').innerText()).toMatch(/64000\s+128000/);
      expect(await rowOf(OWN_MODEL).innerText()).toMatch(/sold\s+not sold/);
      await isWell();
    },
    PATIENCE_MS,
  );

  it(
    'have price books that are made by keyboard, and tried on the past',
    async () => {
      await desk.signIn();
      await look('/price-books', 'Models and prices', ['Every account pays the listed prices.']);
      await desk.press('New price book');
      await desk.type('textbox', 'The book, in JSON', WRONG_BOOK);
      await desk.type('textbox', /^Reason/, 'Contract 7');
      await desk.press('New price book');
      await seen('Line 3: models.0.id', /is no model of the catalog/);
      expect(desk.complaints.splice(0)).toEqual([expect.stringMatching(/400/)]);
      await desk.type('textbox', 'The book, in JSON', BOOK);
      await desk.press('New price book');
      await desk.told(/partners was made/);
      await isWell();
      await desk.admin('PATCH', `/admin/accounts/${accountId}`, { price_book: 'partners' });
      await desk.open('/price-books/partners', 'partners');
      await desk.page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00');
      await desk.page.getByLabel('Before', { exact: true }).fill('2099-01-01T00:00');
      await desk.press('Price anew');
      await seen('−$0.00006', '$0.00054');
      await isWell();
    },
    PATIENCE_MS,
  );

  it(
    'have price books that are replaced by keyboard, with a reason',
    async () => {
      await desk.signIn();
      await desk.open('/price-books/partners', 'partners');
      await desk.press('Replace');
      await desk.type('textbox', 'The book, in JSON', NEXT_BOOK);
      await desk.type('textbox', /^Reason/, MARKUP);
      await desk.press('Replace');
      await desk.told(/in force within 2 seconds/);
      await seen('80 %', '$0.0001');
      await isWell();
    },
    PATIENCE_MS,
  );

  it(
    'keep a book that an account has, and delete one that nobody has',
    async () => {
      // A proof may be older than it may be on a slow machine.
      await desk.signIn();
      await desk.open('/price-books/partners', 'partners');
      await desk.press('Delete');
      await desk.type('textbox', /^Reason/, 'The contract ended');
      await desk.press('Delete');
      await seen(/account/);
      await desk.page.getByRole('alert').first().waitFor();
      expect(desk.complaints.splice(0)).toEqual([expect.stringMatching(/409/)]);
      await desk.admin('PATCH', `/admin/accounts/${accountId}`, { price_book: null });
      await desk.press('Delete');
      await desk.told(/The price book partners is deleted/);
      await seen('Every account pays the listed prices.');
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'leave a record of who did what, with the reason and what changed, by filters in the address',
    async () => {
      await look('/acts', 'Who did what', ['price-book:delete', 'Contract 7', MARKUP]);
      await desk.open('/acts?action=price-book%3Areplace', 'Who did what');
      const summary = desk.page.getByText('3 fields');
      await summary.first().waitFor();
      expect(await desk.page.getByText('price-book:create').count()).toBe(0);
      await summary.first().click();
      await seen('factor permille', '900', '800');
      await isWell();
      await desk.press('partners', 'link');
      await desk.page.waitForURL(/price-books\/partners$/);
      // The book is deleted, which its page has to say first.
      await desk.page.getByRole('alert').first().waitFor();
      desk.complaints.splice(0);
      await desk.open(`/acts?target=${accountId}`, 'Who did what');
      await seen('account:update', '1 field');
      await desk.press(new RegExp(`^${accountId.slice(0, 13)}`), 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'test' }).waitFor();
      await look('/acts?actor=nobody', 'Who did what', ['No act has these properties.']);
    },
    PATIENCE_MS,
  );

  it(
    'show a viewer prices, a dash for costs, and no act',
    async () => {
      await desk.gateway.dataSource.query(`UPDATE console_session SET role = 'viewer'`);
      await desk.admin('POST', '/admin/price-books', { id: 'resellers', factor_permille: 950 });
      await look('/models/gen-5', 'gen-5', ['Your role does not see costs and margins.', '$1.25']);
      expect(await desk.page.getByText(/Cost at|\$11\.00|−10 %/).count()).toBe(0);
      await look('/models', 'Models and prices', ['Your role does not see costs and margins.']);
      await look('/catalog-check', 'Models and prices', ['It needs the role admin.']);
      await look('/price-books/resellers', 'resellers', ['needs the role finance', '95 %']);
      const acts = /^(New price book|Replace|Delete|Check|Price anew)$/;
      expect(await desk.page.getByRole('button', { name: acts }).count()).toBe(0);
    },
    PATIENCE_MS,
  );
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { type TestAccount } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const PATIENCE_MS = 180_000;
const MARKUP = '<img src=x onerror="document.title=1">';
const CREDIT = 5_000_000n;
const MONTH = new Date().toISOString().slice(0, 7);
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface ListedKey {
  readonly id: string;
  readonly [term: string]: unknown;
}

describeInBrowser('what a customer buys and pays', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let accountId: string;

  const read = async <T>(path: string): Promise<T> =>
    (await send(desk.gateway.url + path, { headers: account.headers })).json as T;

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    account = await desk.gateway.account(CREDIT, { scopes: ['read', 'call', 'manage'] });
    accountId = toPublicId('acct', account.accountId);
    await desk.admin('POST', `/admin/accounts/${accountId}/credits`, {
      ...{ amount_microusd: '2000000', payment_reference: MARKUP },
      ...{ currency: 'EUR', tax_microusd: '380000' },
    });
    await postJson(`${desk.gateway.url}/v1/audio/speech`, account.headers, HELLO);
    await desk.signIn(account.key);
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  /** Opens a screen; proves that it is as it has to be at every size, and that it shows what is named. */
  async function look(path: string, heading: string | RegExp, shown: readonly (string | RegExp)[]) {
    await desk.open(path, heading);
    for (const text of shown) {
      await desk.page.getByText(text).filter({ visible: true }).first().waitFor();
    }
    expect(await desk.faults()).toEqual([]);
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    expect(desk.complaints).toEqual([]);
  }

  /** Presses a link that keeps a file; answers its name and text. */
  async function kept(link: string | RegExp) {
    const coming = desk.page.waitForEvent('download');
    await desk.press(link, 'link');
    const file = await coming;
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
  }

  it(
    'lists models with their prices in words, by kind and by a part of the id',
    async () => {
      await look('/models', 'Models', [
        '$0.12 per 1,000 characters',
        'input $0.25, output $2.00 per million tokens',
        '5 s $0.25, 10 s $0.50, 15 s $0.75',
      ]);
      const rows = desk.page.getByRole('table', { name: 'Models' }).getByRole('row');
      await desk.focus('combobox', 'Kind');
      await desk.page.keyboard.type('Speech');
      await desk.page.waitForURL(/kind=audio-speech/);
      await desk.type('textbox', 'Id has', 'AUD-V');
      await desk.page.keyboard.press('Enter');
      await desk.page.waitForURL(/text=AUD-V/);
      // The head of the table counts too.
      expect(await rows.count()).toBe(3);
      await desk.press('aud-v4', 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'aud-v4' }).waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'shows of a model its price by line, what its fields take, and its voices',
    async () => {
      await look('/models/aud-v4', 'aud-v4', [
        '$0.12',
        '10,000 characters',
        'mp3, opus, pcm, wav',
        'pNInz6obpgDQGcFmaJgB',
      ]);
      const link = desk.page.getByRole('link', { name: 'Try it' });
      expect(await link.getAttribute('href')).toBe(
        '/console/playground?operation=audio-speech&model=aud-v4',
      );
      await look('/models/gen-5-mini', 'gen-5-mini', ['$0.025 per million tokens', '0 to 2']);
      await look('/models/song-music', 'song-music', ['Each request in Max mode', '10 to 360']);
      await look('/models/vid-motion', 'vid-motion', ['10 seconds', '5, 10, 15']);
    },
    PATIENCE_MS,
  );

  it(
    'says that a model does not exist',
    async () => {
      await desk.open('/models/no-such', 'no-such');
      await desk.page.getByRole('alert').waitFor();
      desk.complaints.length = 0;
    },
    PATIENCE_MS,
  );

  it(
    'counts the price book of the account in',
    async () => {
      await desk.admin('POST', '/admin/price-books', { id: 'partners', factor_permille: 899 });
      const partner = await desk.gateway.account(CREDIT, { allowedModels: ['aud-v4'] });
      const path = `/admin/accounts/${toPublicId('acct', partner.accountId)}`;
      await desk.admin('PATCH', path, { price_book: 'partners' });
      await desk.signIn(partner.key);
      await look('/models', 'Models', ['1 of 1', '$0.10788 per 1,000 characters', 'your price']);
      await look('/models/aud-v4', 'aud-v4', ['$0.10788', 'the listed price × 0.899']);
      await desk.signIn(account.key);
    },
    PATIENCE_MS,
  );

  it(
    'shows the statement of the month, whose sum is the balance, with number, currency and tax',
    async () => {
      await look('/statements', 'Statements', [/^open$/, '$7.00', '$6.9994']);
      await desk.press('Show earlier months');
      await desk.page.getByRole('row').nth(12).waitFor();
      await look(`/statements/${MONTH}`, /^Statement of/, [
        `${accountId}-${MONTH}`,
        '$6.9994',
        '−$0.0006',
        '5 code points',
        `${MARKUP}, EUR, tax $0.38`,
      ]);
      const { available } = await desk.gateway.balance(account.accountId);
      expect(available).toBe(6_999_400n);
      await desk.press(/^← /, 'link');
      await desk.page.getByText('Nothing was charged in this month.').waitFor();
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'keeps a statement as CSV and opens it to print',
    async () => {
      await desk.open(`/statements/${MONTH}`, /^Statement of/);
      const { name, text } = await kept('Save as CSV');
      expect(name).toBe(`statement-${accountId}-${MONTH}.csv`);
      expect(text).toMatch(/closing/);
      const opening = desk.page.context().waitForEvent('page');
      await desk.press('Open to print', 'link');
      const printed = await opening;
      await printed.getByRole('heading', { name: `Statement of ${MONTH}` }).waitFor();
      await printed.getByText(`${accountId}-${MONTH}`).first().waitFor();
      await printed.close();
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'lists each movement of money, by its filters, which the CSV has too',
    async () => {
      await look('/ledger', 'Statements', ['charge', 'paid credit', MARKUP]);
      await look('/ledger?kind=correction', 'Statements', ['No entry has these properties.']);
      await desk.open('/ledger?kind=credit', 'Statements');
      const { name, text } = await kept('Save as CSV');
      expect(name).toBe('ledger.csv');
      expect(text).toContain('2000000');
      expect(text).not.toContain('charge,');
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'sets the alert for a low balance by keyboard',
    async () => {
      await desk.open('/', 'Home');
      await desk.press('Set the alert');
      await desk.type('textbox', /^Dollars/, '2.50');
      await desk.page.keyboard.press('Enter');
      await desk.told(/An alert is sent below \$2\.50/);
      const { low_balance_microusd: mark } = await read<{ low_balance_microusd: string }>(
        '/v1/account',
      );
      expect(mark).toBe('2500000');
      await look('/', 'Home', ['Told below', '$2.50', 'What is left of each credit']);
    },
    PATIENCE_MS,
  );

  it(
    'replaces a key by one with the same limits, and counts down what is left of the old one',
    async () => {
      const terms = {
        ...{ scopes: ['call'], allowed_models: ['aud-v4'], requests_per_minute: 7 },
        ...{ spend_limit_microusd: '1000000', spend_limit_period: 'day' },
      };
      await postJson(`${desk.gateway.url}/v1/keys`, account.headers, { name: 'build', ...terms });
      await look('/keys', 'Keys', ['build', '7 requests per minute', 'signed in with it']);
      await desk.press('Rotate');
      await desk.page.getByRole('dialog').waitFor();
      await desk.press('Rotate');
      await desk.told(/Copy the new key now/);
      await desk.page.getByText(/^in 23 h 5\d min$/).waitFor();
      const { data } = await read<{ data: readonly ListedKey[] }>('/v1/keys');
      expect(data.slice(0, 2)).toMatchObject([terms, terms]);
      expect(data[0]?.expires_at).toBeNull();
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'shows models and entries to a key that only reads',
    async () => {
      const reader = await desk.gateway.account(0n, { scopes: ['read'] });
      await desk.signIn(reader.key);
      await look('/models', 'Models', ['aud-v4']);
      await look('/ledger', 'Statements', ['The first one is a credit']);
    },
    PATIENCE_MS,
  );
});

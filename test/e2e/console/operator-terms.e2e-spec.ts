import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';

const PATIENCE_MS = 120_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Key {
  readonly id: string;
  readonly name: string | null;
  readonly expires_at: number | null;
}

describeInBrowser('an operator, with the keyboard alone,', () => {
  let desk: ConsoleDesk;
  let accountId: string;

  const keys = async (): Promise<Key[]> =>
    (await desk.admin<{ data: Key[] }>('GET', `/admin/accounts/${accountId}/keys`)).data;
  const account = () => desk.admin('GET', `/admin/accounts/${accountId}`);
  const statusOf = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${desk.gateway.url}/v1/key`, { headers })).status;
  };

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    const made = await desk.admin<{ id: string }>('POST', '/admin/accounts', { name: 'Acme' });
    accountId = made.id;
    await desk.signIn();
    await desk.open(`/accounts/${accountId}`, 'Acme');
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  const issued = async (): Promise<string> => {
    const shown = desk.page.getByRole('status').filter({ hasText: 'It is shown only here' });
    return shown.locator('.mono').innerText();
  };

  it(
    'makes a key with limits, and changes and clears them',
    async () => {
      await desk.press('New key');
      expect(await desk.faults()).toEqual([]);
      await desk.type('textbox', 'Name', 'laptop');
      await desk.type('textbox', /^Most dollars/, '3.5');
      await desk.type('textbox', /^Most requests per minute/, '60');
      await desk.type('textbox', /^Models/, 'aud-v4, gen-5');
      await desk.press('New key');
      await desk.told(/The key was made/);
      expect(await keys()).toMatchObject([
        {
          ...{ name: 'laptop', spend_limit_microusd: '3500000', spend_limit_period: 'month' },
          ...{ requests_per_minute: 60, allowed_models: ['aud-v4', 'gen-5'] },
          ...{ scopes: ['read', 'call'], expires_at: null },
        },
      ]);
      await desk.page.getByRole('row').getByRole('button', { name: 'Change' }).focus();
      await desk.page.keyboard.press('Enter');
      await desk.type('textbox', /^Most dollars/, '12.25');
      await desk.focus('textbox', /^Models/);
      await desk.page.keyboard.press('Control+a');
      await desk.page.keyboard.press('Delete');
      await desk.focus('checkbox', /^manage/);
      await desk.page.keyboard.press('Space');
      await desk.press('Change');
      await desk.told(/The terms of the key hold/);
      expect(await keys()).toMatchObject([
        {
          ...{ name: 'laptop', spend_limit_microusd: '12250000', requests_per_minute: 60 },
          ...{ allowed_models: null, scopes: ['read', 'call', 'manage'] },
        },
      ]);
      await desk.page.getByText('$12.25 per month').waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'replaces a key, with an overlap in which both work, and sees why it cannot be done twice',
    async () => {
      const former = await issued();
      await desk.press('Rotate');
      await desk.page.getByRole('dialog', { name: 'Replace the key' }).waitFor();
      await desk.focus('combobox', 'The old key ends');
      await desk.page.keyboard.type('in an hour');
      await desk.press('Rotate');
      await desk.told(/Copy the new key now/);
      const successor = await issued();
      expect(successor).not.toBe(former);
      expect([await statusOf(former), await statusOf(successor)]).toEqual([200, 200]);
      const [now, old] = await keys();
      if (now === undefined || old === undefined) throw new Error('two keys are not listed');
      expect([now.expires_at, now.name]).toEqual([null, 'laptop']);
      expect(Math.round(((old.expires_at ?? 0) - Date.now() / 1_000) / 60)).toBe(60);
      const row = desk.page.getByRole('row').filter({ hasText: old.id.slice(-4) });
      await row.getByRole('button', { name: 'Rotate' }).focus();
      await desk.page.keyboard.press('Enter');
      await desk.press('Rotate');
      await desk.page.getByRole('alert').filter({ hasText: now.id }).waitFor();
      await desk.page.keyboard.press('Escape');
      expect(desk.complaints.splice(0)).toEqual([expect.stringMatching(/409/)]);
    },
    PATIENCE_MS,
  );

  it(
    'names an account anew, gives it a price book and a mark of a low balance, and takes both away',
    async () => {
      await desk.open(`/accounts/${accountId}`, 'Acme');
      await desk.press('Change');
      await desk.page.getByText(/There is no price book/).waitFor();
      await desk.page.keyboard.press('Escape');
      await desk.admin('POST', '/admin/price-books', { id: 'partners', factor_permille: 900 });
      await desk.open(`/accounts/${accountId}`, 'Acme');
      await desk.press('Change');
      await desk.page.getByRole('option', { name: 'partners' }).waitFor({ state: 'attached' });
      await desk.type('textbox', 'Name', 'Acme Europe');
      await desk.focus('combobox', /^Price book/);
      await desk.page.keyboard.type('partners');
      await desk.type('textbox', /^Told when less is available/, '2.50');
      await desk.type('textbox', /^Reason/, 'Contract 17');
      expect(await desk.faults()).toEqual([]);
      await desk.press('Change');
      await desk.told(/Acme Europe was changed/);
      const terms = { price_book: 'partners', low_balance_microusd: '2500000' };
      expect(await account()).toMatchObject({ name: 'Acme Europe', ...terms });
      const acts = await desk.admin('GET', '/admin/operator-actions?limit=1');
      expect(acts).toMatchObject({ data: [{ reason: 'Contract 17' }] });
      await desk.press('Change');
      await desk.page.getByRole('option', { name: 'partners' }).waitFor({ state: 'attached' });
      await desk.focus('combobox', /^Price book/);
      await desk.page.keyboard.type('The listed');
      await desk.focus('textbox', /^Told when less is available/);
      await desk.page.keyboard.press('Control+a');
      await desk.page.keyboard.press('Delete');
      await desk.type('textbox', /^Reason/, 'Contract 17 has ended');
      await desk.press('Change');
      await desk.page.getByText('the listed prices').waitFor();
      expect(await account()).toMatchObject({ price_book: null, low_balance_microusd: null });
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );
});

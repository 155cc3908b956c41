import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';

const PATIENCE_MS = 120_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('the sign-in page', () => {
  let desk: ConsoleDesk;

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());
  beforeEach(async () => {
    await desk.page.context().clearCookies();
    desk.complaints.length = 0;
  });

  const hasText = (text: string | RegExp) => desk.page.getByText(text).first().waitFor();

  it(
    'takes the operator token or a key, and stands at the address that was asked for',
    async () => {
      await desk.open('/accounts?sort=burn', 'Sign in');
      expect(await desk.faults()).toEqual([]);
      await desk.signIn();
      await desk.open('/accounts?sort=burn', 'Accounts');
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'says why a wrong token is refused, and keeps nothing that was typed',
    async () => {
      await desk.open('/', 'Sign in');
      await desk.type('textbox', /^Operator token/, 'a-wrong-token-0123456789');
      await desk.page.keyboard.press('Enter');
      await desk.page.getByRole('alert').waitFor();
      expect(await desk.page.getByLabel(/^Operator token/).inputValue()).toBe('');
      const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])';
      expect(await desk.page.evaluate<string>(kept)).not.toContain('wrong-token');
    },
    PATIENCE_MS,
  );

  it(
    'opens for the holder of a key only what the key is for, and closes everywhere by signing out',
    async () => {
      const { key, accountId } = await desk.gateway.account();
      await desk.signIn(key);
      await hasText(toPublicId('acct', accountId));
      expect(await desk.page.getByRole('link', { name: 'Accounts' }).count()).toBe(0);
      expect(await desk.page.getByRole('searchbox').count()).toBe(0);
      const second = await desk.page.context().newPage();
      await second.goto(`${desk.gateway.url}/console`);
      await second.getByRole('button', { name: 'Sign out' }).waitFor();
      await desk.press('Sign out');
      await desk.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      await second.reload();
      await second.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      await second.close();
    },
    PATIENCE_MS,
  );

  it(
    'comes back when a session has ended while a screen is open',
    async () => {
      await desk.signIn();
      await desk.page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
      await desk.gateway.dataSource.query('DELETE FROM console_session');
      await desk.press('Accounts', 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'keeps the colours that were chosen in this browser',
    async () => {
      await desk.signIn();
      await desk.page.emulateMedia({ colorScheme: 'light' });
      await desk.page.getByLabel('Colours').selectOption('dark');
      await desk.page.reload();
      await desk.page.getByRole('button', { name: 'Sign out' }).waitFor();
      const ground = 'getComputedStyle(document.body).backgroundColor';
      expect(await desk.page.evaluate<string>(ground)).toBe('rgb(19, 21, 19)');
      await desk.page.getByLabel('Colours').selectOption('light');
      expect(await desk.page.evaluate<string>(ground)).toBe('rgb(247, 247, 244)');
    },
    PATIENCE_MS,
  );

  it(
    'says what to set where others could read the connection, and has no form',
    async () => {
      const sentence = 'Set PUBLIC_URL <b>to https</b>.';
      await desk.page.route('**/console/session', (route) =>
        route.fulfill({
          status: 401,
          json: { error: {}, sign_in: { operator: true, oidc: false, refused: sentence } },
        }),
      );
      await desk.open('/', 'Sign in');
      await hasText(sentence);
      expect(await desk.page.getByRole('textbox').count()).toBe(0);
      await desk.page.unroute('**/console/session');
    },
    PATIENCE_MS,
  );
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { until } from '../../support/until.js';

const PATIENCE_MS = 120_000;
const CLICK_MS = 5_000;
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
    'asks before a link ends the session that is open',
    async () => {
      const { accountId } = await desk.gateway.account();
      const account = toPublicId('acct', accountId);
      const link = async () => {
        const path = `/admin/accounts/${account}/portal-links`;
        const { url } = await desk.admin<{ url: string }>('POST', path, {});
        // The same document at another fragment is not loaded anew.
        await desk.page.goto('about:blank');
        await desk.page.goto(url);
      };
      await desk.signIn();
      const cookieOf = () => desk.page.context().cookies();
      const [former] = await cookieOf();
      await link();
      await hasText('You are signed in as Operator, admin');
      expect(desk.page.url()).not.toContain('portal');
      expect(await cookieOf()).toMatchObject([{ value: former?.value }]);
      await desk.press(/^Stay signed in/);
      await desk.page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
      await link();
      await desk.press(`Sign in as ${account}`);
      await hasText(account);
      await desk.page.getByRole('button', { name: 'Sign out' }).waitFor();
      expect(await desk.page.getByRole('link', { name: 'Accounts' }).count()).toBe(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'shows no words of whoever made the address',
    async () => {
      await desk.open('/?sign_in_error=Call%20us%20at%20555', 'Sign in');
      expect(await desk.page.getByText('555').count()).toBe(0);
      await desk.open('/?sign_in_error=toString', 'Sign in');
      expect(await desk.page.getByRole('alert').count()).toBe(0);
      await desk.open('/?sign_in_error=no_role', 'Sign in');
      await hasText('You have no role here.');
    },
    PATIENCE_MS,
  );

  it(
    'comes back when a session has ended while a screen is open',
    async () => {
      await desk.signIn();
      await desk.page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
      await desk.gateway.dataSource.query('DELETE FROM console_session');
      const link = desk.page.getByRole('link', { name: 'Accounts' });
      // What the screen asks for by itself may bring it back before the click.
      await link.click({ timeout: CLICK_MS }).catch(() => undefined);
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

  // The last one, for the clock of the page stands still from here on.
  it(
    'tells by a header which requests the page makes by itself',
    async () => {
      const heard: (string | undefined)[] = [];
      desk.page.on('request', (request) => {
        if (/\/console\/(?:api|session)/.test(request.url())) {
          heard.push(request.headers()['x-console-poll']);
        }
      });
      await desk.page.clock.install();
      await desk.signIn();
      await desk.page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
      expect(heard.every((header) => header === undefined)).toBe(true);
      await desk.page.clock.fastForward(100_000);
      heard.length = 0;
      await desk.page.clock.fastForward(60_000);
      await until(() => Promise.resolve(heard.length > 0));
      expect(new Set(heard)).toEqual(new Set(['1']));
      await desk.page.keyboard.press('Tab');
      heard.length = 0;
      await desk.page.clock.fastForward(60_000);
      await until(() => Promise.resolve(heard.length > 0));
      expect(new Set(heard)).toEqual(new Set([undefined]));
    },
    PATIENCE_MS,
  );
});

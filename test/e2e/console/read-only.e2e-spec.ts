import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';

const PATIENCE_MS = 120_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('a session of a portal link', () => {
  let desk: ConsoleDesk;

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    const { accountId } = await desk.gateway.account();
    const path = `/admin/accounts/${toPublicId('acct', accountId)}/portal-links`;
    const { url } = await desk.admin<{ url: string }>('POST', path, {});
    await desk.page.goto(url);
    await desk.page.getByRole('button', { name: 'Sign out' }).waitFor();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  const shown = (text: string | RegExp) =>
    desk.page.getByText(text).filter({ visible: true }).first().waitFor();

  it(
    'lists models with their prices, and opens one with its voices',
    async () => {
      await desk.open('/models', 'Models');
      await shown(/^\$0\.12 per /);
      expect(await desk.faults()).toEqual([]);
      await desk.press('aud-v4', 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'aud-v4' }).waitFor();
      await desk.page.getByRole('table', { name: 'Voices' }).getByText('Adam').waitFor();
      expect(await desk.faults()).toEqual([]);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'sees the price and the code of a call in the playground, and no button that calls',
    async () => {
      await desk.open('/playground?operation=audio-speech&model=aud-v4', 'Playground');
      await desk.type('textbox', /^input/, 'Hello');
      await shown('5 code points × $0.00012 per code point = $0.0006');
      await shown('To call, sign in with an API key of scope call.');
      await shown(/SHIM_API_KEY/);
      expect(await desk.page.getByRole('button', { name: /^Call/ }).count()).toBe(0);
      await desk.type('combobox', /^voice/, 'Adam');
      await desk.page.keyboard.press('Enter');
      expect(await desk.faults()).toEqual([]);
      expect(desk.complaints).toEqual([]);
      const calls = await desk.admin<{ data: unknown[] }>('GET', '/admin/executions');
      expect(calls.data).toEqual([]);
    },
    PATIENCE_MS,
  );
});

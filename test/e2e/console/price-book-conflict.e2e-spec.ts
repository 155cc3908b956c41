import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';

const PATIENCE_MS = 120_000;
const PATH = '/admin/price-books/partners';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Book {
  readonly factor_permille: number;
  readonly newest_version: number;
}

describeInBrowser('two operators who replace a price book', () => {
  let desk: ConsoleDesk;

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    await desk.admin('POST', '/admin/price-books', { id: 'partners', factor_permille: 900 });
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  const book = () => desk.admin<Book>('GET', PATH);
  const write = async (factor: number) => {
    await desk.type('textbox', 'The book, in JSON', `{"factor_permille": ${factor}, "models": []}`);
    await desk.type('textbox', 'Reason', 'New contract');
    await desk.press('Replace');
  };

  it(
    'do not overwrite each other: the second is told, and begins anew from what is in force',
    async () => {
      await desk.open('/price-books/partners', 'partners');
      await desk.press('Replace');
      await desk.admin('PUT', PATH, { factor_permille: 800 });
      await write(700);
      const dialog = desk.page.getByRole('dialog');
      await dialog.getByText('The newest version of the price book is 2, not 1').waitFor();
      await dialog.getByText('Somebody has written version 2 meanwhile').waitFor();
      expect(await desk.faults()).toEqual([]);
      expect(await book()).toMatchObject({ factor_permille: 800, newest_version: 2 });
      await desk.press('Begin anew from what is in force');
      const field = dialog.getByRole('textbox', { name: 'The book, in JSON' });
      expect(await field.inputValue()).toContain('"factor_permille": 800');
      await write(700);
      await desk.told(/in force within 2 seconds/);
      expect(await book()).toMatchObject({ factor_permille: 700, newest_version: 3 });
    },
    PATIENCE_MS,
  );

  it(
    'may write one version after the other from a page that stays open',
    async () => {
      for (const factor of [650, 600]) {
        await desk.press('Replace');
        await write(factor);
        await desk.page.getByRole('dialog').waitFor({ state: 'detached' });
        expect(await book()).toMatchObject({ factor_permille: factor });
      }
      // The refusal of the test before is a line of the browser's own.
      expect(desk.complaints.filter((one) => !one.includes('409'))).toEqual([]);
    },
    PATIENCE_MS,
  );
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import type { TestAccount } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 120_000;
const CREDIT = 5_000_000n;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('an answer that is lost on its way to the page', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;

  beforeAll(async () => {
    desk = await ConsoleDesk.start(BRISK);
    account = await desk.gateway.account(CREDIT);
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  /** The gateway gets the next request of a path, and the page no answer. */
  async function loseNext(path: string): Promise<void> {
    await desk.page.route(
      `**/console/api${path}`,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
  }

  it(
    'makes no second credit, also where the dialogue is closed and opened anew',
    async () => {
      const id = toPublicId('acct', account.accountId);
      await desk.signIn();
      await desk.open(`/accounts/${id}`, 'test');
      await loseNext(`/admin/accounts/${id}/credits`);
      const credit = async () => {
        await desk.press('Credit');
        await desk.type('textbox', /^Amount in dollars$/, '3');
        await desk.type('textbox', 'Amount in dollars once more', '3');
        await desk.type('textbox', /^Reason/, 'Invoice 17');
        await desk.press('Credit');
      };
      await credit();
      await desk.page.getByText('The gateway cannot be reached').waitFor();
      await desk.press('Cancel');
      await credit();
      await desk.told(/^\$3\.00 credited\. The balance is \$8\.00\.$/);
      expect((await desk.gateway.balance(account.accountId)).available).toBe(CREDIT + 3_000_000n);
    },
    PATIENCE_MS,
  );

  it(
    'makes no second task of the playground',
    async () => {
      await desk.signIn(account.key);
      await desk.open('/playground?operation=music-generation&model=song-music', 'Playground');
      await loseNext('/v1/music/generations');
      await desk.press('Call');
      await desk.page.getByText('The gateway cannot be reached').waitFor();
      await desk.press('Call');
      await desk.page.getByRole('link', { name: /task_/ }).first().waitFor();
      const { json } = await send(`${desk.gateway.url}/v1/tasks`, { headers: account.headers });
      expect((json as { data: unknown[] }).data).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});

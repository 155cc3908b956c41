import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../../src/common/time/clock.js';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { ADMIN_TOKEN, type TestAccount } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 120_000;
const PROOF_IS_OLD_MS = 6 * 60_000;
const CREDIT = 5_000_000n;
const SONG = 75_000n;
const SPEECH = 600n;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Act {
  readonly action: string;
  readonly reason: string | null;
}

describeInBrowser('an operator, with the keyboard alone,', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let accountPath: string;

  beforeAll(async () => {
    desk = await ConsoleDesk.start(BRISK);
    account = await desk.gateway.account(CREDIT);
    accountPath = `/accounts/${toPublicId('acct', account.accountId)}`;
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  const available = async (): Promise<bigint> =>
    (await desk.gateway.balance(account.accountId)).available;
  const lastAct = async (): Promise<Act | undefined> =>
    (await desk.admin<{ data: Act[] }>('GET', '/admin/operator-actions?limit=1')).data[0];
  const unknownSong = async (): Promise<string> => {
    const body = { model: 'song-music', prompt: 'A song [[sandbox:no-result]]' };
    const { url } = desk.gateway;
    const made = await postJson(`${url}/v1/music/generations`, account.headers, body);
    const { id } = made.json as { id: string };
    for (let status = ''; status !== 'reconciliation_required';) {
      const headers = { ...account.headers, prefer: 'wait=30' };
      const read = await fetch(`${url}/v1/tasks/${id}`, { headers });
      ({ status } = (await read.json()) as { status: string });
    }
    return id;
  };

  it(
    'credits an account, the amount typed twice, with a reason that is kept',
    async () => {
      await desk.open(accountPath, 'test');
      await desk.press('Credit');
      await desk.type('textbox', /^Amount in dollars$/, '12.50');
      await desk.type('textbox', 'Amount in dollars once more', '12.05');
      await desk.type('textbox', /^Reason/, 'Invoice 17, “paid” – 100 %');
      await desk.press('Credit');
      expect(await available()).toBe(CREDIT);
      await desk.type('textbox', 'Amount in dollars once more', '12.5');
      await desk.press('Credit');
      await desk.told(/^\$12\.50 credited\. The balance is \$17\.50\.$/);
      expect(await available()).toBe(CREDIT + 12_500_000n);
      expect(await lastAct()).toMatchObject({ reason: 'Invoice 17, “paid” – 100 %' });
      await desk.page.getByRole('definition').filter({ hasText: '$17.50' }).first().waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'takes a wrong credit off, and proves to be there where the last proof is old',
    async () => {
      const clock = desk.gateway.app.get(Clock);
      const nowMs = clock.nowMs.bind(clock);
      clock.nowMs = () => nowMs() + PROOF_IS_OLD_MS;
      await desk.open(accountPath, 'test');
      await desk.press('Correct');
      await desk.type('textbox', /^Amount to take off, in dollars$/, '12.50');
      await desk.type('textbox', /once more$/, '12.50');
      await desk.type('textbox', /^Reason/, 'Typed wrongly');
      await desk.press('Correct');
      await desk.type('textbox', /^Operator token/, ADMIN_TOKEN);
      await desk.press('Correct');
      await desk.told(/taken off/);
      clock.nowMs = nowMs;
      expect(await available()).toBe(CREDIT);
      // The refused try is told by the browser; nothing else is.
      expect(desk.complaints.splice(0)).toEqual([expect.stringMatching(/403/)]);
    },
    PATIENCE_MS,
  );

  it(
    'makes an account and a key, and revokes the key',
    async () => {
      await desk.open('/accounts', 'Accounts');
      await desk.press('New account');
      await desk.type('textbox', /^Name/, 'Globex & Sons');
      await desk.page.keyboard.press('Enter');
      await desk.told(/The account Globex & Sons was made/);
      await desk.open(accountPath, 'test');
      await desk.press('New key');
      await desk.type('textbox', 'Name', 'laptop');
      await desk.type('textbox', /^Most dollars/, '3');
      await desk.press('New key');
      const shown = desk.page.getByRole('status').filter({ hasText: 'It is shown only here' });
      const key = await shown.locator('.mono').innerText();
      const headers = { authorization: `Bearer ${key}` };
      const read = () => fetch(`${desk.gateway.url}/v1/key`, { headers });
      expect(await (await read()).json()).toMatchObject({ spend_limit_microusd: '3000000' });
      await desk.press('Revoke');
      await desk.page.getByRole('dialog', { name: 'Revoke the key' }).waitFor();
      await desk.press('Revoke');
      await desk.told(/The key is revoked/);
      expect((await read()).status).toBe(401);
    },
    PATIENCE_MS,
  );

  it(
    'disables an account and enables it again',
    async () => {
      await desk.open(accountPath, 'test');
      for (const [label, state] of [
        ['Disable', 'disabled'],
        ['Enable', 'active'],
      ] as const) {
        await desk.press(label);
        await desk.type('textbox', /^Reason/, 'A stolen key');
        await desk.press(label);
        await desk.page.getByRole('main').getByText(state, { exact: true }).first().waitFor();
      }
    },
    PATIENCE_MS,
  );

  it(
    'gives back a part of what a call cost',
    async () => {
      const spoken = await postJson(`${desk.gateway.url}/v1/audio/speech`, account.headers, HELLO);
      const id = spoken.headers.get('x-gateway-execution-id') ?? '';
      expect(await available()).toBe(CREDIT - SPEECH);
      await desk.open(`/calls/${id}`, id);
      await desk.press('Refund');
      await desk.type('textbox', /^Amount in dollars/, '0.0004');
      await desk.type('textbox', /^Reason/, 'Ticket 17');
      await desk.press('Refund');
      await desk.told(/^\$0\.0004 given back/);
      await desk.page.getByText('Given back: $0.0004').waitFor();
      expect(await available()).toBe(CREDIT - 200n);
    },
    PATIENCE_MS,
  );

  it(
    'decides unknown outcomes: made for a part of the price, not made, and collected again',
    async () => {
      const before = await available();
      for (const [label, left, told] of [
        ['It was made', before - 50_000n, /It was made|it was made/],
        ['It was not made', before - 50_000n, /it was not made/],
      ] as const) {
        await unknownSong();
        expect(await available()).toBe((label === 'It was made' ? before : left) - SONG);
        await desk.open('/decide', 'To decide');
        await desk.press(label);
        if (label === 'It was made') await desk.type('textbox', /^Charge in dollars/, '0.05');
        await desk.type('textbox', /^Reason/, "As the vendor's dashboard says");
        await desk.press(label);
        await desk.told(told);
        await desk.page.getByText('No outcome is unknown.').waitFor();
        expect(await available()).toBe(left);
      }
      const id = await unknownSong();
      await desk.open(`/tasks/${id}`, id);
      await desk.press('Collect again');
      await desk.type('textbox', /^Reason/, 'It may be there by now');
      await desk.press('Collect again');
      await desk.page
        .getByRole('status')
        .or(desk.page.getByRole('alert'))
        .filter({ hasText: /\w/ })
        .first()
        .waitFor();
    },
    PATIENCE_MS,
  );

  it('does all that without a complaint of the browser', () => {
    expect(desk.complaints.filter((text) => !text.includes('resolve'))).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../../src/billing/audit/audit.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  SECRET_KEY,
  startGatewayProgram,
  temporaryFolder,
} from '../../support/process.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { until } from '../../support/until.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 240_000;
/** The lease of the killed process ends before what it held is released. */
const RELEASE_MS = 120_000;
const NAME = 'Northwind & <b>Söhne</b>';
const SONG = '/v1/music/generations';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('from the first credit to the statement, on the page', () => {
  let database: TestDatabase;
  let settings: NodeJS.ProcessEnv;
  let gateway: GatewayProgram;
  let desk: ConsoleDesk<{ readonly url: string; stop(): Promise<void> }>;
  let account: string;
  let key: string;
  let song: string;
  let unknown: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    settings = {
      ...BRISK,
      ...{ DATABASE_URL: database.url, DATA_DIR: await temporaryFolder(), SECRET_KEY },
      ...{ PORT: String(await freePort()), ADMIN_TOKEN, SANDBOX: 'on' },
    };
    gateway = await startGatewayProgram(settings);
    desk = await ConsoleDesk.before({ url: gateway.url, stop: () => Promise.resolve() });
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(async () => {
    await (desk as ConsoleDesk | undefined)?.stop();
    await cleanUp();
    await database.drop();
  }, PATIENCE_MS);

  const headers = () => ({ authorization: `Bearer ${key}` });
  const post = (path: string, body: object) => postJson(gateway.url + path, headers(), body);
  const read = async <T>(path: string): Promise<T> =>
    (await send(gateway.url + path, { headers: headers() })).json as T;
  const shows = (text: string | RegExp, patienceMs = 30_000) =>
    desk.page.getByText(text).first().waitFor({ timeout: patienceMs });
  const openAccount = () => desk.open(`/accounts/${account}`, NAME);
  const ended = async (prompt: string): Promise<string> => {
    const { id } = (await post(SONG, { model: 'song-music', prompt })).json as { id: string };
    await until(async () => {
      const { status } = await read<{ status: string }>(`/v1/tasks/${id}`);
      return !['queued', 'processing'].includes(status);
    });
    return id;
  };

  it(
    'the operator makes an account and a key, and credits it',
    async () => {
      await desk.open('/accounts', 'Accounts');
      await desk.press('New account');
      await desk.type('textbox', /^Name/, NAME);
      await desk.page.keyboard.press('Enter');
      await desk.told(/was made/);
      const { data } = await desk.admin<{ data: { id: string }[] }>('GET', '/admin/accounts');
      account = data[0]?.id ?? '';
      await openAccount();
      await desk.press('New key');
      await desk.type('textbox', 'Name', 'production');
      await desk.press('New key');
      const made = desk.page.getByRole('status').filter({ hasText: 'It is shown only here' });
      key = await made.locator('.mono').innerText();
      await desk.press('Credit');
      await desk.type('textbox', /^Amount in dollars$/, '5');
      await desk.type('textbox', 'Amount in dollars once more', '5');
      await desk.type('textbox', 'What the payment is called', 'invoice 17');
      await desk.type('textbox', /^Reason/, 'The first invoice is paid');
      await desk.press('Credit');
      await desk.told(/^\$5\.00 credited\. The balance is \$5\.00\.$/);
    },
    PATIENCE_MS,
  );

  it(
    'the customer is told the price of a song, and pays it',
    async () => {
      await desk.signIn(key);
      await desk.open('/playground?operation=music-generation&model=song-music', 'Playground');
      await desk.type('textbox', /^prompt/, 'A bossa nova about rain');
      const part = (name: string) => desk.page.locator(`section[aria-label="${name}"]`);
      const price = part('Price').locator('dt:text-is("Price") + dd');
      await price.filter({ hasText: '$0.075' }).waitFor();
      expect(await read('/v1/account')).toMatchObject({ available_microusd: '5000000' });
      await desk.press('Call');
      const charged = part('Result').locator('dt:text-is("Charged") + dd');
      await charged.filter({ hasText: '$0.075' }).waitFor();
      await part('Result').locator('audio').first().waitFor();
      song = await part('Result').locator('a[href*="/tasks/"]').innerText();
      await desk.press(song, 'link');
      await desk.page.getByRole('heading', { level: 1, name: song }).waitFor();
      await shows('Settled: $0.075 charged');
      expect(await read('/v1/account')).toMatchObject({ available_microusd: '4925000' });
    },
    PATIENCE_MS,
  );

  it(
    'a call in flight holds money, which both see, and which is released after the process was killed',
    async () => {
      const hanging = { model: 'aud-v4', voice: 'Adam', input: 'Hello [[sandbox:hang]]' };
      const cut = post('/v1/audio/speech', hanging).catch(() => undefined);
      await desk.open('/', 'Home');
      await desk.page
        .getByRole('row', { name: /aud-v4/ })
        .first()
        .waitFor();
      await shows(/^running$/);
      expect(await read('/v1/account')).toMatchObject({ held_microusd: '2640' });
      await desk.signIn();
      await openAccount();
      const hold = desk.page.getByRole('table', { name: 'Holds in flight' }).getByRole('row');
      await hold.filter({ hasText: 'aud-v4' }).filter({ hasText: '$0.00264' }).waitFor();
      // What is open asks again and again, and would complain.
      await desk.page.goto('about:blank');
      await gateway.end('SIGKILL');
      await cut;
      gateway = await startGatewayProgram(settings);
      await openAccount();
      await shows(/^Nothing is held: no call or task of this account/, RELEASE_MS);
      await desk.signIn(key);
      await shows(/^Nothing is held: no call or task is under way/);
      await desk.open('/calls', 'Calls and tasks');
      await desk.page.getByRole('row', { name: /aud-v4.*failed|failed.*aud-v4/ }).waitFor();
      expect(await read('/v1/account')).toMatchObject({
        available_microusd: '4925000',
        held_microusd: '0',
      });
    },
    PATIENCE_MS,
  );

  it(
    'the operator decides an unknown outcome for a part of the price, and gives a part of the first song back',
    async () => {
      unknown = await ended('A waltz [[sandbox:no-result]]');
      expect(await read('/v1/account')).toMatchObject({ held_microusd: '75000' });
      await desk.signIn();
      await desk.open('/decide', 'To decide');
      await shows(unknown);
      await desk.press('It was made');
      await desk.type('textbox', /^Charge in dollars/, '0.05');
      const dialog = desk.page.getByRole('dialog', { name: 'It was made' });
      await dialog.getByRole('row', { name: 'Available $4.85 $4.875' }).waitFor();
      await desk.type('textbox', /^Reason/, "The vendor's dashboard shows it");
      await desk.press('It was made');
      await desk.told(/\$0\.05 is charged/);
      await shows('No outcome is unknown.');
      await desk.open(`/tasks/${song}`, song);
      await desk.press('Refund');
      await desk.type('textbox', /^Amount in dollars/, '0.025');
      await desk.type('textbox', /^Reason/, 'Ticket 17');
      await desk.press('Refund');
      await desk.told(/^\$0\.025 given back/);
    },
    PATIENCE_MS,
  );

  /** The rows of a table, each with the texts of its cells. */
  const rowsOf = async (table: string): Promise<string[][]> => {
    const rows = await desk.page.getByRole('table', { name: table }).locator('tbody tr').all();
    return Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
  };

  it('the customer reads all of it in the statement of the month, and its sum is exact', async () => {
    const month = new Date().toISOString().slice(0, 7);
    await desk.signIn(key);
    await desk.press('Statements', 'link');
    await desk.page.getByRole('heading', { level: 1, name: 'Statements' }).waitFor();
    const here = desk.page.locator(`a[href$="/statements/${month}"]`).first();
    await desk.press(await here.innerText(), 'link');
    await desk.page.getByRole('heading', { level: 1, name: /^Statement of/ }).waitFor();
    const sum = desk.page.getByRole('table', { name: 'The sum of the month' });
    expect(await sum.locator('td').allInnerTexts()).toEqual([
      ...['Opening balance', '$0.00', 'Credits', '$5.00', 'Corrections', '$0.00'],
      ...['Charges', '−$0.125', 'Refunds', '$0.025', 'Expired', '$0.00'],
      ...['Closing balance', '$4.90', 'Of this, held for running work', '$0.00'],
    ]);
    const [charge] = await rowsOf('Charges by model');
    expect(charge).toEqual(expect.arrayContaining(['song-music', '2', '$0.125']));
    const [credit] = await rowsOf('Credits');
    expect(credit?.join(' ')).toMatch(/\$5\.00.*invoice 17/);
    const [refund] = await rowsOf('Refunds');
    expect(refund?.join(' ')).toContain('$0.025');
    // The sandbox that was killed had the pictures of the first song.
    expect(desk.complaints.filter((one) => !one.includes('/sandbox/media/'))).toEqual([]);
    expect(await auditLedger(database.dataSource)).toMatchObject({
      ok: true,
      postedMicroUsd: 4_900_000n,
      heldMicroUsd: 0n,
    });
  });

  it('the record of operators has each deed with its reason', async () => {
    const { data } = await desk.admin<{ data: { action: string; reason: string | null }[] }>(
      'GET',
      '/admin/operator-actions?limit=20',
    );
    // The answer to a decision shows content: that is a look, which is recorded beside the deed.
    const deeds = data
      .filter(({ action, reason }) => reason !== null && action !== 'task:look')
      .reverse();
    expect(deeds.map(({ action, reason }) => [action, reason])).toEqual([
      ['account:credit', 'The first invoice is paid'],
      ['task:resolve', "The vendor's dashboard shows it"],
      ['task:refund', 'Ticket 17'],
    ]);
  });
});

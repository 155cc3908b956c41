import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { ADMIN_TOKEN, type TestAccount } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 180_000;
const MARKUP = '<img src=x onerror="document.title=1">';
const LONG_NAME = `model-${'with-a-long-name-'.repeat(8)}end`;
const MANY = 10_500;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

/** Sums of the days before today, of the account ($1) and of all. Each model has other amounts; one is sold below its cost. */
const DAYS = `
  INSERT INTO usage_day (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged, input_tokens,
                         output_tokens, cost, costed, below_cost, provider, upstream_model)
  SELECT holder, (now() AT TIME ZONE 'UTC')::date - back, '00000000-0000-0000-0000-000000000000', model,
         CASE WHEN place = 2 THEN '/v1/audio/transcriptions' ELSE '/v1/chat/completions' END,
         60 + 7 * back % 40, back % 3, 900 * place, 2500000 / place + 90000 * (back % 5), 700 * place, 200 * place,
         CASE WHEN place = 3 THEN 3000000 ELSE 800000 / place END, 60 + 7 * back % 40 - back % 3,
         CASE WHEN place = 3 THEN 12 ELSE 0 END, 'openai', 'of-' || place
    FROM unnest(ARRAY[$1::uuid, '00000000-0000-0000-0000-000000000000']) AS holder,
         generate_series(1, 40) AS back,
         unnest($2::text[]) WITH ORDINALITY AS named (model, place)`;
/** So many models of one account, all in March of 2020. */
const MODELS_OF_OLD = `
  INSERT INTO usage_day (account_id, day, api_key_id, model, endpoint, calls, failures, quantity, charged)
  SELECT holder, '2020-03-10', '00000000-0000-0000-0000-000000000000', 'old-' || each, '/v1/embeddings', 1, 0, 10, each
    FROM unnest(ARRAY[$1::uuid, '00000000-0000-0000-0000-000000000000']) AS holder, generate_series(1, $2::int) AS each`;

describeInBrowser('the screens of usage', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let accountId: string;

  beforeAll(async () => {
    desk = await ConsoleDesk.start(BRISK);
    account = await desk.gateway.account();
    accountId = toPublicId('acct', account.accountId);
    await desk.admin('PATCH', `/admin/accounts/${accountId}`, { name: MARKUP });
    const models = ['gpt-big', MARKUP, 'gpt-cheap', LONG_NAME];
    const more = ['five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven'];
    const { dataSource, url } = desk.gateway;
    await dataSource.query(DAYS, [account.accountId, [...models, ...more]]);
    await dataSource.query(MODELS_OF_OLD, [account.accountId, MANY]);
    await dataSource.query('ANALYZE usage_day');
    await postJson(`${url}/v1/audio/speech`, account.headers, HELLO);
    const failing = { ...HELLO, input: 'Hello. [[sandbox:error]]' };
    await postJson(`${url}/v1/audio/speech`, account.headers, failing);
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());
  beforeEach(() => {
    desk.complaints.length = 0;
  });

  /** Proves that what is open shows what is named, and is as it has to be at every size; a wanted refusal is no fault. */
  async function shows(shown: readonly (string | RegExp)[], refusal?: string) {
    for (const text of shown) {
      await desk.page.getByText(text).filter({ visible: true }).first().waitFor();
    }
    expect(await desk.faults()).toEqual([]);
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    const isWanted = (complaint: string) => refusal !== undefined && complaint.includes(refusal);
    expect(desk.complaints.filter((complaint) => !isWanted(complaint))).toEqual([]);
  }
  /** The cells of the row of the table that begins with a text. */
  const cellsOf = async (text: string): Promise<string[]> => {
    const row = desk.page
      .getByRole('group', { name: 'Usage' })
      .getByRole('row')
      .filter({
        has: desk.page.getByRole('cell', { name: text, exact: true }),
      });
    return row.first().getByRole('cell').allTextContents();
  };
  const firstCells = async (): Promise<string[]> => {
    const rows = desk.page.getByRole('group', { name: 'Usage' }).locator('tbody tr');
    await rows.first().waitFor();
    return rows.locator('td:first-child').allTextContents();
  };
  /** Saves the CSV by keyboard, and answers its lines. */
  const saved = async (): Promise<string[]> => {
    const download = desk.page.waitForEvent('download', { timeout: PATIENCE_MS });
    await desk.press('Save as CSV');
    const text = await readFile(await (await download).path(), 'utf8');
    return text.trim().split(/\r?\n/);
  };
  const read = async (path: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    return (await (await fetch(desk.gateway.url + path, { headers })).text()).trim().split(/\r?\n/);
  };

  it(
    'show an operator ten lines of the largest, the sums, and a table whose order the address keeps',
    async () => {
      await desk.open('/usage', 'Usage');
      await shows(['Charged per day by model', '3 others', LONG_NAME, MARKUP, 'Margin']);
      expect((await firstCells())[0]).toBe('gpt-big');
      await desk.press('Calls');
      expect(desk.page.url()).toMatch(/[?&]sort=calls/);
      await desk.press('Model');
      await desk.page.reload();
      expect((await firstCells())[0]).toBe(MARKUP);
      await desk.page.getByText('Charged per day as a table').click();
      await shows(['3 others']);
    },
    PATIENCE_MS,
  );

  it(
    'count anything by two things and by hour, day or month, all by keyboard and kept in the address',
    async () => {
      await desk.open('/usage', 'Usage');
      await desk.press('24 hours');
      await (await desk.focus('combobox', 'What')).selectOption('characters');
      await (await desk.focus('combobox', 'And by')).selectOption('provider');
      await shows(['Characters per hour by model']);
      expect(await cellsOf('aud-v4')).toEqual(
        expect.arrayContaining(['aud-v4', 'sandbox', '2', '1', '$0.0006', '5']),
      );
      await desk.page.goto(desk.page.url().replace('range=24h', 'range=last-month&roll=month'));
      await shows(['Characters per month by model']);
      await (await desk.focus('combobox', 'What')).selectOption('seconds');
      await desk.page.getByRole('columnheader', { name: /^Seconds/ }).waitFor();
      await desk.page.goBack();
      await desk.page.getByRole('columnheader', { name: /^Characters/ }).waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'link a count to its calls, and the screens with sums to the usage behind them',
    async () => {
      await desk.open('/', 'Today');
      await desk.page.getByRole('link', { name: 'By model and hour' }).first().click();
      await desk.page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await desk.page
        .getByRole('row', { name: /^aud-v4/ })
        .getByRole('link', { name: '1' })
        .click();
      await desk.page.getByRole('heading', { level: 1, name: 'Calls and tasks' }).waitFor();
      expect(desk.page.url()).toMatch(/\/calls\?.*model=aud-v4.*created_after=\d+/);
      await desk.page.getByRole('row', { name: /failed/ }).waitFor();
      expect(await desk.page.locator('tbody tr').count()).toBe(1);
      await desk.open(`/accounts/${accountId}`, MARKUP);
      await desk.page.getByRole('link', { name: /By key/ }).click();
      await desk.page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      expect(desk.page.url()).toContain(`account_id=${accountId}`);
    },
    PATIENCE_MS,
  );

  it(
    'tell in place why a time is refused, and what to call where nothing was used',
    async () => {
      await desk.open('/usage?roll=hour&from=1580000000', 'Usage');
      const sentence = 'Usage by hour is kept for 14 days: from must not lie before';
      // A browser complains of every refusal, some time after it; this one is wanted.
      const refusal = 'from=1580000000';
      await shows([sentence], refusal);
      await desk.open('/usage?from=1500000000&to=1510000000', 'Usage');
      await shows(['Nothing ended in this time', /curl -X POST/], refusal);
    },
    PATIENCE_MS,
  );

  it(
    'have more rows than an answer of the API, a hundred at once',
    async () => {
      await desk.open('/usage?from=1583000000&to=1585000000', 'Usage');
      await desk.page.getByText(`100 of 10,500 rows`).waitFor();
      expect((await firstCells())[0]).toBe(`old-${MANY}`);
      await desk.page.getByRole('button', { name: 'Show more' }).click();
      await desk.page.getByText(`200 of 10,500 rows`).waitFor();
      await desk.page.getByRole('listitem').filter({ hasText: '10,491 others' }).waitFor();
      expect(await saved()).toHaveLength(MANY + 1);
    },
    PATIENCE_MS,
  );

  it(
    'save as CSV what the API answers, for the role finance',
    async () => {
      await desk.open('/usage?by=account&then=time&range=last-month', 'Usage');
      await desk.page.getByRole('group', { name: 'Usage' }).waitFor();
      const now = new Date();
      const month = (after: number) =>
        new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + after))
          .toISOString()
          .slice(0, 10);
      const path = `/admin/usage?group_by=day,account&from=${month(-1)}&to=${month(0)}&format=csv`;
      expect(await saved()).toEqual(await read(path));
    },
    PATIENCE_MS,
  );

  it(
    'show the margin of models, those sold below their cost first',
    async () => {
      await desk.open('/margin', 'Margin');
      await shows(['Charged, cost and margin per day', 'Sold below cost']);
      expect((await firstCells())[0]).toBe('gpt-cheap');
      const [name, below] = await cellsOf('gpt-cheap');
      expect([name, below]).toEqual(['gpt-cheap', '348']);
      await (await desk.focus('combobox', 'By')).selectOption('account');
      await shows([MARKUP]);
      expect((await saved())[0]).toMatch(/^account_id,account_name,.*sold_below_cost$/);
    },
    PATIENCE_MS,
  );

  it(
    'show a viewer no cost, no margin and no CSV, and name the role that they need',
    async () => {
      await desk.gateway.dataSource.query(`UPDATE console_session SET role = 'viewer'`);
      await desk.open('/usage?metric=cost', 'Usage');
      await shows(['Costs and margins need the role finance. Yours is viewer.']);
      await shows([/The CSV has costs/]);
      expect(await desk.page.getByRole('button', { name: 'Save as CSV' }).count()).toBe(0);
      expect(await desk.page.getByRole('columnheader', { name: 'Cost' }).count()).toBe(0);
      await desk.open('/margin', 'Margin');
      await shows(['Margins need the role finance. Yours is viewer.']);
      await desk.gateway.dataSource.query(`UPDATE console_session SET role = 'admin'`);
    },
    PATIENCE_MS,
  );

  it(
    'show a customer the usage of the account, with nothing of providers and costs',
    async () => {
      await desk.signIn(account.key);
      await desk.page.getByRole('link', { name: 'By model and day' }).click();
      await desk.page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await shows(['Charged per day by model', 'gpt-big', MARKUP]);
      expect(await desk.page.getByText(/cost|margin|provider/i).count()).toBe(0);
      await desk.open('/usage?by=key&range=24h', 'Usage');
      await desk.page.getByRole('row', { name: /key_/ }).getByRole('link', { name: '2' }).click();
      await desk.page.getByRole('heading', { level: 1, name: 'Calls and tasks' }).waitFor();
      await desk.page.getByRole('row', { name: /succeeded/ }).waitFor();
      await desk.open('/usage?by=time', 'Usage');
      const lines = await saved();
      expect(lines[0]).toMatch(/^day,calls,/);
      expect(lines[0]).not.toMatch(/cost|margin|provider/);
    },
    PATIENCE_MS,
  );
});

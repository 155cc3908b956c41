import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { until } from '../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const PATIENCE_MS = 120_000;
const MARKUP = '<img src=x onerror="document.title=1">';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Made {
  readonly id: string;
  readonly status: string;
}

describeInBrowser("an operator's screens of webhooks", () => {
  let desk: ConsoleDesk;
  let receiver: WebhookReceiver;
  let accountId: string;
  let endpoint: string;
  let host: string;
  const failed: string[] = [];

  const stateOf = async (id: string): Promise<string> =>
    (await desk.admin<Made>('GET', `/admin/webhook-deliveries/${id}`)).status;
  const becomes = async (id: string, status: string) => {
    await until(async () => (await stateOf(id)) === status);
  };
  const test = () =>
    desk.admin<Made>('POST', `/admin/accounts/${accountId}/webhook-endpoints/${endpoint}/test`);

  beforeAll(async () => {
    receiver = await startWebhookReceiver(410);
    host = new URL(receiver.url).host;
    desk = await ConsoleDesk.start(receiver.settings);
    accountId = toPublicId('acct', (await desk.gateway.account()).accountId);
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(async () => {
    await desk.stop();
    await receiver.stop();
  });

  /** Opens a screen; proves that it is as it has to be at every size, and that it shows what is named. */
  async function look(path: string, heading: string, shown: readonly (string | RegExp)[]) {
    await desk.open(path, heading);
    for (const text of shown) {
      await desk.page.getByText(text).filter({ visible: true }).first().waitFor();
    }
    expect(await desk.faults()).toEqual([]);
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    expect(desk.complaints).toEqual([]);
  }

  it(
    'say what is next where no webhook was written',
    async () => {
      await look('/webhooks', 'Webhooks', ['No webhook was written in this time.']);
      await look('/deliveries', 'Webhooks', [/No webhook was sent yet/, /"webhook":"https/]);
      await look('/deliveries?status=failed', 'Webhooks', ['No delivery has these properties.']);
      await look(`/accounts/${accountId}`, 'test', [/webhook-endpoint:create acct_/]);
    },
    PATIENCE_MS,
  );

  it(
    'show receivers by what failed there, their deliveries, and each attempt of one',
    async () => {
      const path = `/admin/accounts/${accountId}/webhook-endpoints`;
      const url = `${receiver.url}?note=${encodeURIComponent(MARKUP)}`;
      const body = { url, secret: 'a-secret-of-16-or-more', events: ['balance.low'] };
      endpoint = (await desk.admin<Made>('POST', path, body)).id;
      for (let made = 0; made < 2; made += 1) failed.push((await test()).id);
      for (const id of failed) await becomes(id, 'failed');
      await look('/webhooks', 'Webhooks', [host, '0 %', 'to 1 receiver']);
      await desk.press(host, 'link');
      await desk.page.getByText('HTTP 410').first().waitFor();
      expect(new URL(desk.page.url()).search).toBe(`?host=${encodeURIComponent(host)}`);
      await look(`/deliveries?host=${host}&event=test`, 'Webhooks', ['HTTP 410', 'failed']);
      const [id = ''] = failed;
      await look(`/deliveries/${id}`, id, ['Attempt 1: HTTP 410', /Failed for good/, url]);
      await look('/', 'Today', ['0 are overdue']);
    },
    PATIENCE_MS,
  );

  it(
    'send one again, and all that failed at a receiver, with the keyboard alone',
    async () => {
      const [one = '', other = ''] = failed;
      receiver.react(200);
      await desk.open(`/deliveries/${one}`, one);
      await desk.press('Send again');
      await desk.page.getByRole('dialog', { name: 'Send the webhook again' }).waitFor();
      await desk.press('Send again');
      await desk.told(/The next attempt is made now/);
      await desk.page.getByText('Attempt 2: HTTP 200').waitFor();
      expect([await stateOf(one), await stateOf(other)]).toEqual(['delivered', 'failed']);
      await desk.open(`/deliveries?host=${host}`, 'Webhooks');
      await desk.press('Send failed again');
      expect(await desk.faults()).toEqual([]);
      await desk.type('textbox', /^Receiver/, 'other.example');
      await desk.press('Send failed again');
      await desk.told(/Nothing failed there since then/);
      await desk.open('/webhooks', 'Webhooks');
      await desk.page.getByRole('row', { name: new RegExp(host) }).waitFor();
      await desk.page.getByRole('row').getByRole('button', { name: 'Send failed again' }).focus();
      await desk.page.keyboard.press('Enter');
      await desk.press('Send failed again');
      await desk.told(/^1 delivery is sent again now/);
      await becomes(other, 'delivered');
    },
    PATIENCE_MS,
  );

  it(
    'send a test from the page of an account, and open what came of it',
    async () => {
      await desk.open(`/accounts/${accountId}`, 'test');
      await desk.press('Send a test');
      await desk.page.getByRole('dialog', { name: 'Send a test' }).waitFor();
      await desk.press('Send a test');
      await desk.page.getByRole('heading', { level: 1, name: /^whd_/ }).waitFor();
      await desk.page.getByText('Attempt 1: HTTP 200').waitFor();
      expect(JSON.parse(String(receiver.received.at(-1)?.body))).toMatchObject({ type: 'test' });
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'offer a viewer no act',
    async () => {
      await desk.gateway.dataSource.query(`UPDATE console_session SET role = 'viewer'`);
      const [id = ''] = failed;
      for (const [path, heading, shown] of [
        ['/webhooks', 'Webhooks', host],
        ['/deliveries', 'Webhooks', 'HTTP 200'],
        [`/deliveries/${id}`, id, 'Attempt 2: HTTP 200'],
        [`/accounts/${accountId}`, 'test', 'balance.low'],
      ] as const) {
        await desk.open(path, heading);
        await desk.page.getByText(shown).first().waitFor();
        const acts = desk.page.getByRole('main').getByRole('button', {
          name: /^(Send|New|Change|Rotate|Revoke|Credit|Disable)/,
        });
        expect([path, await acts.count()]).toEqual([path, 0]);
      }
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );
});

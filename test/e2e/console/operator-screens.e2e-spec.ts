import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import type { TestAccount } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { BRISK } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const PATIENCE_MS = 120_000;
const MARKUP = '<img src=x onerror="document.title=1"><script>alert(1)</script>';
/** Plays the first video, and answers its length in seconds. */
const PLAY = `(async () => {
  const video = document.querySelector('video');
  video.muted = true;
  await video.play();
  return video.duration;
})()`;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Made {
  readonly id: string;
}

describeInBrowser('the screens of an operator', () => {
  let desk: ConsoleDesk;
  let receiver: WebhookReceiver;
  let account: TestAccount;
  let accountId: string;
  let call: string;
  let song: string;
  let unknown: string;
  let video: string;

  const post = (path: string, body: object) =>
    postJson(desk.gateway.url + path, account.headers, body);
  const ended = async (path: string, body: object): Promise<string> => {
    const { id } = (await post(path, body)).json as Made;
    for (let status = 'queued'; /queued|processing|in_progress/.test(status);) {
      const headers = { ...account.headers, prefer: 'wait=30' };
      const read = await fetch(`${desk.gateway.url}/v1/tasks/${id}`, { headers });
      ({ status } = (await read.json()) as { status: string });
    }
    return id;
  };

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    desk = await ConsoleDesk.start({ ...BRISK, ...receiver.settings });
    account = await desk.gateway.account();
    accountId = toPublicId('acct', account.accountId);
    await desk.admin('PATCH', `/admin/accounts/${accountId}`, { name: MARKUP });
    const credit = { amount_microusd: '5000000', note: MARKUP, payment_reference: MARKUP };
    await desk.admin('POST', `/admin/accounts/${accountId}/credits`, credit);
    await desk.admin('POST', `/admin/accounts/${accountId}/keys`, { name: MARKUP });
    const spoken = await fetch(`${desk.gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: {
        ...account.headers,
        'content-type': 'application/json',
        'x-client-request-id': '<b>request</b>',
      },
      body: JSON.stringify(HELLO),
    });
    call = spoken.headers.get('x-gateway-execution-id') ?? 'none';
    await spoken.arrayBuffer();
    song = await ended('/v1/music/generations', {
      ...{ model: 'song-music', prompt: MARKUP },
      ...{ webhook: receiver.url, webhook_secret: 'x'.repeat(32) },
    });
    unknown = await ended('/v1/music/generations', {
      ...{ model: 'song-music', prompt: 'A song [[sandbox:no-result]]' },
    });
    video = await ended('/v1/videos', {
      ...{ model: 'vid-motion', prompt: MARKUP, seconds: '5', aspect_ratio: '16:9' },
    });
    await receiver.until(1);
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(async () => {
    await desk.stop();
    await receiver.stop();
  });

  /** Opens a screen; proves that it is as it has to be at every size, and that it shows what is named. */
  async function look(path: string, heading: string | RegExp, shown: readonly (string | RegExp)[]) {
    await desk.open(path, heading);
    for (const text of shown) {
      await desk.page.getByText(text).filter({ visible: true }).first().waitFor();
    }
    expect(await desk.faults()).toEqual([]);
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    expect(desk.complaints).toEqual([]);
  }

  it(
    'show today whether the books are right, what is held, and what waits for a person',
    async () => {
      await look('/', 'Today', ['Posted', /1 outcome is unknown/, 'OPENAI_API_KEY']);
      await desk.page.getByRole('link', { name: '1 account', exact: true }).waitFor();
      const [dry, providers] = await Promise.all(
        ['Accounts that run dry', 'Providers'].map(async (name) =>
          desk.page.getByRole('heading', { level: 2, name }).boundingBox(),
        ),
      );
      expect(providers?.x).toBe(dry?.x);
      const closed = await desk.page.locator('details.panel').boundingBox();
      const summary = await desk.page.locator('details.panel > summary').boundingBox();
      const above = (summary?.y ?? 0) - (closed?.y ?? 0);
      expect(closed?.height).toBeCloseTo((summary?.height ?? 0) + 2 * above, 0);
      await desk.page.getByText('Charged, cost and margin per hour as a table').click();
      await desk.page.getByRole('columnheader', { name: 'Margin' }).first().waitFor();
      expect(await desk.faults()).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'list accounts, and show one with its ledger, keys, holds and usage',
    async () => {
      await look('/accounts', 'Accounts', [MARKUP]);
      const frame = desk.page.getByRole('group', { name: 'Accounts', exact: true });
      const hidden = await frame.evaluate((of) => of.scrollWidth - of.clientWidth);
      expect(hidden).toBe(0);
      await desk.open('/accounts?sort=burn&name=%3Cimg', 'Accounts');
      await desk.page.getByRole('link', { name: new RegExp(accountId.slice(0, 13)) }).click();
      await desk.page.getByRole('heading', { level: 1, name: MARKUP }).waitFor();
      await look(`/accounts/${accountId}`, MARKUP, [
        '$5.00',
        'Holds in flight',
        'aud-v4',
        '−$0.0006',
      ]);
    },
    PATIENCE_MS,
  );

  it(
    'list calls, by filters that the address keeps, and show one from its hold to its settlement',
    async () => {
      await look('/calls', 'Calls and tasks', ['aud-v4']);
      await desk.page.getByLabel('Status').selectOption('failed');
      await desk.page.getByText('No call has these properties.').waitFor();
      expect(desk.page.url()).toMatch(/\/console\/calls\?status=failed$/);
      await desk.page.reload();
      await desk.page.getByText('No call has these properties.').waitFor();
      await look(`/calls/${call}`, call, [
        'Held $0.0006',
        '5 code points × $0.00012 per code point',
        'Measured: 5 code points',
        'Settled: $0.0006 charged',
        '<b>request</b>',
      ]);
    },
    PATIENCE_MS,
  );

  it(
    'list tasks, and show one with its sum, its deliveries, and its media, which play in place',
    async () => {
      await look('/tasks', 'Calls and tasks', ['reconciliation required', 'song-music']);
      await look(`/tasks/${song}`, song, ['1 request × $0.075 per request', receiver.url]);
      expect(await desk.page.locator('audio[src^="/sandbox/media/"]').count()).toBe(2);
      await look(`/tasks/${video}`, video, ['1 request × $0.25 per request']);
      expect(await desk.page.evaluate<number>(PLAY)).toBeGreaterThan(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'tell of an unknown outcome what is known, and what each decision does to the money',
    async () => {
      await look('/decide', 'To decide', ['Look there for', /held for/]);
      await desk.page.getByRole('button', { name: 'It was not made' }).click();
      const dialog = desk.page.getByRole('dialog', { name: 'It was not made' });
      await dialog.getByRole('row', { name: /^Held \$0\.075 \$0\.00$/ }).waitFor();
      expect(await desk.faults()).toEqual([]);
      await desk.page.keyboard.press('Escape');
      await look(`/tasks/${unknown}`, unknown, ['Outcome unknown']);
    },
    PATIENCE_MS,
  );

  it(
    'open by any id what has it',
    async () => {
      for (const id of [call, song, accountId, '<b>request</b>']) {
        await desk.open('/', 'Today');
        await desk.type('searchbox', 'Find any id', id);
        await desk.page.keyboard.press('Enter');
        const heading = id === accountId ? MARKUP : id.startsWith('<') ? call : id;
        await desk.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      }
      await look('/find?id=exec_none', 'Found', ['Nothing has this id.']);
      await look('/nowhere', 'No such screen', []);
    },
    PATIENCE_MS,
  );
});

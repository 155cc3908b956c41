import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { type TestAccount } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 120_000;
const MARKUP = '<img src=x onerror="document.title=1">';
/** Plays the first video, and answers its length in seconds. */
const PLAY = `(async () => {
  const video = document.querySelector('video');
  video.muted = true;
  await video.play();
  return video.duration;
})()`;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('the screens of a customer', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let call: string;
  let video: string;
  let song: string;

  const ended = async (path: string, body: object): Promise<string> => {
    const answer = await postJson(desk.gateway.url + path, account.headers, body);
    const { id } = answer.json as { id: string };
    for (let status = 'queued'; /queued|processing|in_progress/.test(status);) {
      const headers = { ...account.headers, prefer: 'wait=30' };
      const read = await send(`${desk.gateway.url}/v1/tasks/${id}`, { headers });
      ({ status } = read.json as { status: string });
    }
    return id;
  };

  beforeAll(async () => {
    desk = await ConsoleDesk.start({ ...BRISK, TOPUP_URL: 'https://pay.example.com/{account}' });
    account = await desk.gateway.account();
    const spoken = await postJson(`${desk.gateway.url}/v1/audio/speech`, account.headers, HELLO);
    call = spoken.headers.get('x-gateway-execution-id') ?? 'none';
    const prompt = MARKUP;
    song = await ended('/v1/music/generations', { model: 'song-music', prompt });
    const film = { model: 'vid-motion', prompt, seconds: '5', aspect_ratio: '16:9' };
    video = await ended('/v1/videos', film);
    await desk.signIn(account.key);
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

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
    'show at home what is left, what holds money, the limits of the key, and where to get more',
    async () => {
      await look('/', 'Home', ['Available', 'Spent per day', 'Nothing is held', 'aud-v4']);
      const link = desk.page.getByRole('link', { name: 'Top up' });
      expect(await link.getAttribute('href')).toMatch(/^https:\/\/pay\.example\.com\/acct_/);
    },
    PATIENCE_MS,
  );

  it(
    'show at home a first call that runs as it is copied, while there is no call',
    async () => {
      const newcomer = await desk.gateway.account();
      await desk.signIn(newcomer.key);
      await desk.open('/', 'Home');
      const command = await desk.page.getByText(/^curl -X POST/).textContent();
      expect(command).toContain(` ${desk.gateway.url}/v1/audio/speech `);
      expect(command).toContain('Bearer $SHIM_API_KEY"');
      await desk.page.getByRole('main').getByRole('link', { name: 'Playground' }).click();
      await desk.page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
      expect(desk.complaints).toEqual([]);
      await desk.signIn(account.key);
    },
    PATIENCE_MS,
  );

  it(
    'list calls and show one with its sum, but with nothing of the provider',
    async () => {
      await look('/calls', 'Calls and tasks', ['aud-v4']);
      await look(`/calls/${call}`, call, [
        'Held $0.0006',
        '5 code points × $0.00012 per code point',
        'Measured: 5 code points',
        'Settled: $0.0006 charged',
      ]);
      expect(await desk.page.getByText(/Cost at|Attempts at/).count()).toBe(0);
    },
    PATIENCE_MS,
  );

  it(
    'list tasks and show one whose media play in place',
    async () => {
      await look('/tasks', 'Calls and tasks', ['song-music', 'vid-motion']);
      await look(`/tasks/${song}`, song, ['Settled: $0.075 charged']);
      await look(`/tasks/${video}`, video, ['completed']);
      expect(await desk.page.evaluate<number>(PLAY)).toBeGreaterThan(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'ask for no keys with a key without the scope manage, and say what it takes',
    async () => {
      await look('/keys', 'Keys', ['sign in with a key of scope manage']);
      expect(await desk.page.getByRole('alert').count()).toBe(0);
      expect(await desk.page.getByRole('button', { name: 'New key' }).count()).toBe(0);
    },
    PATIENCE_MS,
  );

  it(
    'make, replace and revoke a key by keyboard, and show its secret once',
    async () => {
      const scopes = ['read', 'call', 'manage'];
      const made = await send(`${desk.gateway.url}/v1/keys`, { headers: account.headers });
      expect(made.status).toBe(403);
      const manager = await desk.admin<{ key: string }>('POST', await keysPath(), {
        name: 'manager',
        scopes,
      });
      await desk.signIn(manager.key);
      await desk.open('/keys', 'Keys');
      await desk.press('New key');
      await desk.type('textbox', 'Name', MARKUP);
      await desk.page.keyboard.press('Enter');
      await desk.told(/The key was made/);
      const secret = await desk.page.getByText(/^sk-[^…]{20}/).textContent();
      expect(await balanceWith(secret ?? '')).toBe(200);
      await look('/keys', 'Keys', [MARKUP]);
      expect(await desk.page.getByText(/^sk-[^…]{20}/).count()).toBe(0);
      await desk.press('Rotate');
      await desk.focus('combobox', 'The old key ends');
      await desk.press('Rotate');
      await desk.told(/Copy the new key now/);
      await desk.press('Revoke');
      await desk.press('Revoke');
      await desk.told(/The key is revoked/);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  const keysPath = async () => {
    const { json } = await send(`${desk.gateway.url}/v1/account`, { headers: account.headers });
    return `/admin/accounts/${(json as { id: string }).id}/keys`;
  };
  const balanceWith = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await send(`${desk.gateway.url}/v1/account`, { headers })).status;
  };
});

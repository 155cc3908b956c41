import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const PATIENCE_MS = 120_000;
const MARKUP = '<img src=x onerror="document.title=1">';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Paused {
  readonly reason: string;
  readonly expires_at: number;
}
interface Provider {
  readonly id: string;
  readonly paused: Paused | null;
  readonly routes: { readonly upstream_model: string; readonly paused: Paused | null }[];
}

describeInBrowser("an operator's screens of providers", () => {
  let desk: ConsoleDesk;
  let route: string;

  const read = async (): Promise<Provider> => {
    const { data } = await desk.admin<{ data: Provider[] }>('GET', '/admin/providers');
    const found = data.find(({ id }) => id === 'elevenlabs');
    if (found === undefined) throw new Error('elevenlabs is not listed');
    return found;
  };
  const pausedRoutes = async () => (await read()).routes.filter(({ paused }) => paused !== null);

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    const account = await desk.gateway.account();
    await postJson(`${desk.gateway.url}/v1/audio/speech`, account.headers, HELLO);
    await postJson(`${desk.gateway.url}/v1/chat/completions`, account.headers, {
      ...{ model: 'gen-5', max_tokens: 3 },
      messages: [{ role: 'user', content: 'Why is the sky blue?' }],
    });
    route = (await read()).routes[0]?.upstream_model ?? '';
    await desk.signIn();
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
    'show each provider and its routes, and say in the sandbox what makes the work real',
    async () => {
      await look('/providers', 'Providers', [
        /Only the sandbox works here/,
        'elevenlabs',
        '$0.0006',
      ]);
      await desk.open('/', 'Today');
      await desk.press('elevenlabs', 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'elevenlabs' }).waitFor();
      await look('/providers/elevenlabs', 'elevenlabs', ['ELEVENLABS_API_KEY=… npm start', route]);
      // An amount with all its places stands in one line.
      await look('/providers/openai', 'openai', [/^\$0\.0000\d\d$/]);
      await desk.open('/providers/nobody', 'nobody');
      await desk.page.getByText('No provider has this id.').waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'pause a provider and a route with an end and a reason, and resume them, with the keyboard alone',
    async () => {
      await desk.open('/providers/elevenlabs', 'elevenlabs');
      await desk.press('Pause');
      await desk.page.getByRole('dialog', { name: /elevenlabs, all its routes/ }).waitFor();
      expect(await desk.faults()).toEqual([]);
      await desk.type('textbox', /^Reason/, MARKUP);
      await desk.focus('combobox', 'It ends');
      await desk.page.keyboard.type('in 4 hours');
      await desk.press('Pause');
      await desk.told(/all its routes: paused/);
      const end = (await read()).paused?.expires_at ?? 0;
      expect(Math.round((end - Date.now() / 1_000) / 60)).toBe(240);
      await look('/providers', 'Providers', ['paused', MARKUP]);
      await look('/providers/elevenlabs', 'elevenlabs', [MARKUP, 'paused']);
      await desk.press('Resume');
      await desk.press('Resume');
      await desk.told(/the pause has ended/);
      expect((await read()).paused).toBeNull();
      await desk.page.getByRole('row').getByRole('button', { name: 'Pause' }).first().focus();
      await desk.page.keyboard.press('Enter');
      await desk.type('textbox', /^Reason/, 'Slow answers');
      await desk.page.keyboard.press('Enter');
      await desk.told(/paused\. Every process knows it/);
      expect(await pausedRoutes()).toMatchObject([
        { upstream_model: route, paused: { reason: 'Slow answers' } },
      ]);
      await desk.press('Resume');
      await desk.press('Resume');
      await desk.page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' });
      expect(await pausedRoutes()).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'refuse in the dialogue an end that has passed',
    async () => {
      await desk.open('/providers/elevenlabs', 'elevenlabs');
      await desk.press('Pause');
      await desk.type('textbox', /^Reason/, 'Slow answers');
      await desk.focus('combobox', 'It ends');
      await desk.page.keyboard.type('at a time');
      await desk.page.getByLabel(/^End/).fill('2020-01-01T00:00');
      await desk.press('Pause');
      await desk.page.getByRole('alert').filter({ hasText: 'expires_at must be' }).waitFor();
      await desk.page.keyboard.press('Escape');
      expect((await read()).paused).toBeNull();
      expect(desk.complaints.splice(0)).toEqual([expect.stringMatching(/400/)]);
    },
    PATIENCE_MS,
  );

  it(
    'probe a provider and a route, and show the answer in place',
    async () => {
      await desk.open('/providers/elevenlabs', 'elevenlabs');
      await desk.press('Probe');
      await desk.page
        .getByRole('status')
        .filter({ hasText: /^It answered in/ })
        .waitFor();
      await desk.press(`Probe ${route}`);
      const answer = desk.page.getByRole('cell').getByRole('status');
      await answer.filter({ hasText: route }).waitFor();
      expect(await desk.faults()).toEqual([]);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'offer no act to a role below admin, and show costs from finance on',
    async () => {
      for (const [role, cost] of [
        ['finance', /^\$/],
        ['support', /^–$/],
      ] as const) {
        await desk.gateway.dataSource.query('UPDATE console_session SET role = $1', [role]);
        await desk.open('/providers/elevenlabs', 'elevenlabs');
        await desk.page.getByText(`, ${role}`).waitFor();
        const main = desk.page.getByRole('main');
        expect(await main.getByRole('button', { name: /^(Pause|Resume|Probe)/ }).count()).toBe(0);
        const figure = main.locator('dt', { hasText: 'Cost today' }).locator('+ dd');
        expect(await figure.innerText()).toMatch(cost);
      }
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );
});

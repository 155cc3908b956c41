import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import type { TestAccount } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 180_000;
const MARKUP = '<img src=x onerror="document.title=1">';
const run = promisify(execFile);
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;
/** How each sample is run: the program, and the arguments before its text. */
const PROGRAMS = {
  curl: ['bash', '-c'],
  'Node.js': [process.execPath, '--input-type=module', '-e'],
} as const;

/** Operations whose price is known before the call, with what the result shows. */
const PRICED: readonly (readonly [operation: string, shown: string])[] = [
  ['image-generation', 'img.media'],
  ['audio-speech', 'audio'],
  ['audio-dialogue', 'audio'],
  ['audio-transcription', '.told-text'],
  ['audio-alignment', 'details'],
  ['audio-voice-changer', 'audio'],
  ['audio-isolation', 'audio'],
  ['audio-sound-effects', 'audio'],
  ['audio-music', 'audio'],
  ['audio-dubbing', 'audio'],
  ['music-generation', 'audio'],
  ['compat-video', 'video'],
];

describeInBrowser('the playground', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'playground-'));
    desk = await ConsoleDesk.start({ ...BRISK });
    account = await desk.gateway.account();
    await desk.signIn(account.key);
  }, PATIENCE_MS);
  afterAll(async () => {
    await desk.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const part = (name: string) => desk.page.locator(`section[aria-label="${name}"]`);
  const open = async (operation: string, model = '') => {
    const query = new URLSearchParams({ operation, ...(model !== '' && { model }) });
    await desk.open(`/playground?${query.toString()}`, 'Playground');
  };
  /** The price of a call that is known before it is made. */
  const priceOf = async () => {
    const price = part('Price').locator('.figures dd').filter({ hasText: '$' }).first();
    await part('Price')
      .locator('.figures dt', { hasText: /^Price$/ })
      .waitFor();
    await part('Price').getByText(' = $').first().waitFor();
    return price.textContent();
  };
  const chargeOf = async () => {
    const charged = part('Result').locator('dt:text-is("Charged") + dd').filter({ hasText: '$' });
    await charged.waitFor();
    return charged.textContent();
  };
  const held = async () => {
    const { json } = await send(`${desk.gateway.url}/v1/account`, { headers: account.headers });
    return (json as { held_microusd: string }).held_microusd;
  };
  const nothingHeld = async () => {
    for (let tries = 0; tries < 60 && (await held()) !== '0'; tries += 1) {
      await desk.page.waitForTimeout(500);
    }
    return held();
  };
  const codeFor = (label: string) =>
    part('Code').locator(`pre[aria-label="Code for ${label}"]`).textContent();

  it.each(PRICED)(
    'calls %s by keyboard at the price that stood there before, and shows what came',
    async (operation, shown) => {
      await open(operation);
      const price = await priceOf();
      await desk.press('Call');
      expect(await chargeOf()).toBe(price);
      await part('Result').locator(shown).first().waitFor();
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each(['chat-completions', 'responses', 'messages', 'embeddings'])(
    'calls %s by keyboard for no more than what stood there before',
    async (operation) => {
      await open(operation);
      await part('Price').locator('.figures dd').first().waitFor();
      await desk.press('Call');
      expect(await chargeOf()).toMatch(/^\$0\.\d+$/);
      expect(await nothingHeld()).toBe('0');
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'shows a streamed chat as it comes, ends it when told to, and holds nothing then',
    async () => {
      await open('chat-completions', 'gen-think');
      await desk.type('textbox', 'Message 1', `${MARKUP} [[sandbox:pace=150]]`);
      await desk.focus('checkbox', 'stream');
      await desk.page.keyboard.press('Space');
      await desk.press('Call');
      const text = part('Result').locator('.told-text');
      await text.waitFor();
      const early = (await text.textContent()) ?? '';
      await desk.page.waitForTimeout(1_000);
      expect(((await text.textContent()) ?? '').length).toBeGreaterThan(early.length);
      await desk.press('Cancel');
      await part('Result').getByText('The request was ended').waitFor();
      expect(await nothingHeld()).toBe('0');
      expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    },
    PATIENCE_MS,
  );

  it(
    'holds nothing for a call whose screen is left in the middle',
    async () => {
      await open('chat-completions', 'gen-think');
      await desk.type('textbox', 'Message 1', 'Tell me more [[sandbox:delay=4000]]');
      await desk.press('Call');
      await part('Result').getByText('Waiting for the answer').waitFor();
      while ((await held()) === '0') await desk.page.waitForTimeout(100);
      await desk.press('Home', 'link');
      await desk.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      expect(await nothingHeld()).toBe('0');
    },
    PATIENCE_MS,
  );

  it(
    'takes an upload, reads its length for the price, and charges that price',
    async () => {
      const media = await fetch(`${desk.gateway.url}/sandbox/media/recording.mp3`);
      const file = join(folder, "it's.mp3");
      await writeFile(file, Buffer.from(await media.arrayBuffer()));
      await open('audio-isolation');
      await desk.focus('button', /^file/);
      await desk.page.setInputFiles('input[type=file]', file);
      const price = await priceOf();
      await desk.press('Call');
      expect(await chargeOf()).toBe(price);
      expect(await part('Result').locator('audio').count()).toBe(1);
      await runsAs('curl', 'isolation.mp3');
      await runsAs('Node.js', 'isolation.mp3');
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  /** Runs the code that is shown with the key in its place, and proves that it makes what the page made. */
  async function runsAs(label: keyof typeof PROGRAMS, made: string) {
    const [program, ...options] = PROGRAMS[label];
    const source = (await codeFor(label)) ?? '';
    expect(source).not.toContain(account.key);
    const env = { ...process.env, SHIM_API_KEY: account.key };
    await run(program, [...options, source], { cwd: folder, env });
    const bytes = await readFile(join(folder, made));
    await rm(join(folder, made));
    expect(bytes.byteLength).toBeGreaterThan(1_000);
  }

  it(
    'shows code that makes the same call outside the page',
    async () => {
      await open('audio-speech');
      await desk.type('textbox', /^input/, `It's ${MARKUP} and "quotes" $HOME`);
      await priceOf();
      await runsAs('curl', 'speech.mp3');
      await runsAs('Node.js', 'speech.mp3');
      await open('embeddings');
      const [program, ...options] = PROGRAMS.curl;
      const env = { ...process.env, SHIM_API_KEY: account.key };
      const { stdout } = await run(program, [...options, (await codeFor('curl')) ?? ''], { env });
      await desk.press('Call');
      await chargeOf();
      const shown = await part('Result').locator('pre').textContent();
      expect(JSON.parse(shown ?? '').data).toEqual(JSON.parse(stdout).data);
    },
    PATIENCE_MS,
  );

  it(
    'tells a wrong field in its place, before the call and after it',
    async () => {
      await open('audio-speech');
      await desk.type('combobox', /^voice/, 'Nobody');
      await part('Price').getByText('The call would be refused').waitFor();
      await part('Request').locator('.fault').first().waitFor();
      await desk.press('Call');
      await part('Result')
        .locator('[role=alert]')
        .getByText(/^exec_/)
        .waitFor();
      await part('Result').getByText('field voice').waitFor();
      await desk.type('textbox', /^input/, ' ');
      await part('Price').getByText('1 to go').waitFor();
      desk.complaints.length = 0; // The browser tells of the refusal.
    },
    PATIENCE_MS,
  );

  it(
    'makes the sandbox fail on request, and charges nothing for what failed',
    async () => {
      await open('music-generation');
      await (await desk.focus('combobox', /^Make it fail/)).selectOption('task-fails');
      await priceOf();
      await desk.press('Call');
      await part('Result').getByText('failed', { exact: true }).waitFor();
      expect(await part('Result').locator('dt:text-is("Charged") + dd').textContent()).toBe('–');
      expect(await nothingHeld()).toBe('0');
    },
    PATIENCE_MS,
  );

  it(
    'keeps operation and model in the address, and is as it has to be at every size',
    async () => {
      await open('audio-speech', 'aud-v3');
      await (await desk.focus('combobox', 'Model')).selectOption('aud-flash-v2.5');
      await part('Price').getByText('$0.00006').waitFor();
      expect(desk.page.url()).toMatch(/operation=audio-speech&model=aud-flash-v2\.5$/);
      for (const operation of ['chat-completions', 'audio-transcription', 'music-generation']) {
        await open(operation);
        await part('Price').locator('.figures').waitFor();
        expect(await desk.faults()).toEqual([]);
      }
      await desk.press('Call');
      expect([await chargeOf(), ...(await desk.faults())]).toEqual([expect.stringMatching(/^\$/)]);
    },
    PATIENCE_MS,
  );

  it(
    'tells a session that only reads what it needs',
    async () => {
      const { json } = await send(`${desk.gateway.url}/v1/account`, { headers: account.headers });
      const path = `/admin/accounts/${(json as { id: string }).id}/portal-links`;
      const { url } = await desk.admin<{ url: string }>('POST', path, {});
      await desk.page.context().clearCookies();
      await desk.page.goto('about:blank');
      await desk.page.goto(url);
      await desk.page.getByRole('button', { name: 'Sign out' }).waitFor();
      await open('audio-speech');
      await desk.page.getByText('sign in with an API key of scope call').waitFor();
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );
});

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 240_000;
const SCREENS_MS = 400_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

/** Markup that would run as code, and say which field it comes from. It turns the direction of what follows it. */
const markup = (field: string): string =>
  `${field}<img src=x onerror="window.ran='${field}'"><script>window.ran='${field}'</script>\u202Efdp.exe`;
/** The same of printable characters alone, for headers and ids. */
const plain = (field: string): string => `${field}<img src=x onerror=window.ran='${field}'>`;
const SCRIPT_URL = "javascript:window.ran='url'";
const MODEL = plain('model');

/** What ran, what could run, and texts whose direction could turn others. */
const HARM = `(() => {
  const harm = window.ran === undefined ? [] : ['ran: ' + window.ran];
  for (const one of document.querySelectorAll('*')) {
    if ([...one.attributes].some(({ name }) => name.startsWith('on'))) harm.push(one.outerHTML);
    if (/^(javascript|data|vbscript):/i.test(one.getAttribute('href') ?? one.getAttribute('src') ?? '')) harm.push(one.outerHTML);
    if (one.matches('img[src="x"], script:not([src]), iframe, object, embed')) harm.push(one.outerHTML);
    const turns = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.includes('\\u202e'));
    const { display, unicodeBidi } = getComputedStyle(one);
    if (turns && /^inline$|contents/.test(display) && !/isolate/.test(unicodeBidi)) harm.push('turns: ' + one.outerHTML.slice(0, 200));
  }
  return harm;
})()`;

describeInBrowser('markup that somebody else has stored', () => {
  let desk: ConsoleDesk;
  let key: string;
  let account: string;
  let headers: Record<string, string>;
  const ids: Record<string, string> = {};
  const seen = new Set<string>();
  const stored = new Set<string>();

  /** Marks a field as stored: one of the screens must show it. */
  const kept = (field: string, make = markup): string => {
    stored.add(field);
    return make(field);
  };
  const idOf = ({ json }: { readonly json: unknown }) => (json as { id: string }).id;

  beforeAll(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'markup-')), 'catalog.json');
    const routes = [{ provider: 'elevenlabs', upstream_model: 'eleven_v3' }];
    const price = { unit: 'code_point', micro_usd: 7 };
    const limits = { max_input: 500 };
    stored.add('model');
    const voices = { [kept('voice', plain)]: 'JBFqnCBsd6RMkjVDRZzb' };
    const own = { id: MODEL, operation: 'speech', routes, price, limits, voices };
    writeFileSync(file, JSON.stringify({ models: [own] }));
    desk = await ConsoleDesk.start({ ...BRISK, CATALOG_FILE: file });
    const { url } = desk.gateway;
    account = idOf({
      json: await desk.admin('POST', '/admin/accounts', { name: kept('account') }),
    });
    const scopes = ['read', 'call', 'manage'];
    const terms = { name: kept('key'), scopes };
    const made = await desk.admin<{ key: string; id: string }>(
      ...(['POST', `/admin/accounts/${account}/keys`, terms] as const),
    );
    key = made.key;
    headers = { authorization: `Bearer ${key}`, 'x-gateway-run': kept('run', plain) };
    const operator = new ConsoleBrowser(url);
    await operator.signIn({ token: ADMIN_TOKEN });
    const credit = {
      ...{ amount_microusd: '9000000', note: kept('note') },
      payment_reference: kept('payment'),
    };
    const credited = await operator.post(`/api/admin/accounts/${account}/credits`, credit, {
      'idempotency-key': plain('idempotency').replaceAll(' ', '/'),
      'x-console-reason': encodeURIComponent(kept('reason')),
    });
    expect(credited.status).toBe(201);
    const said = { ...headers, 'x-client-request-id': kept('client', plain) };
    const spoken = await postJson(`${url}/v1/audio/speech`, said, {
      ...HELLO,
      model: MODEL,
      voice: plain('voice'),
    });
    expect(spoken.status).toBe(200);
    ids.call = spoken.headers.get('x-gateway-execution-id') ?? 'none';
    const hook = `https://hooks.example.com/${encodeURIComponent(markup('hook'))}?a=${SCRIPT_URL}`;
    const endpoint = {
      url: hook,
      secret: 'x'.repeat(32),
      events: ['balance.low', 'task.finished'],
    };
    const sent = await postJson(`${url}/v1/webhook-endpoints`, headers, endpoint);
    expect(sent.status).toBe(201);
    const song = { model: 'song-music', prompt: `${kept('prompt')} [[sandbox:no-result]]` };
    ids.task = idOf(await postJson(`${url}/v1/music/generations`, headers, song));
    await send(`${url}/v1/tasks/${ids.task}`, { headers: { ...headers, prefer: 'wait=30' } });
    const urls = { audio_url: SCRIPT_URL, image_url: `data:text/html,${markup('data')}` };
    const result = { tracks: [{ index: 1, ...urls, title: kept('result') }] };
    const decision = { outcome: 'succeeded', charged_microusd: '5', result };
    const decided = await desk.admin<object>('POST', `/admin/tasks/${ids.task}/resolve`, decision);
    expect(decided).toMatchObject({ task_status: 'succeeded' });
    const lost = { model: 'song-music', prompt: `${markup('undecided')} [[sandbox:no-result]]` };
    const undecided = idOf(await postJson(`${url}/v1/music/generations`, headers, lost));
    await send(`${url}/v1/tasks/${undecided}`, { headers: { ...headers, prefer: 'wait=30' } });
    const refund = { amount_microusd: '3', reason: 'goodwill', note: kept('refund') };
    await desk.admin('POST', `/admin/tasks/${ids.task}/refund`, refund);
    const books = [{ id: MODEL, price }];
    await desk.admin('POST', '/admin/price-books', { id: 'partners', models: books });
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  /** Opens the screen, and proves that nothing of what it shows is more than text. */
  async function look(path: string): Promise<void> {
    const { page } = desk;
    await page.goto(`${desk.gateway.url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    for (const summary of await page.locator('main summary').all()) await summary.click();
    const text = (await page.locator('body').textContent()) ?? '';
    const fields = await page
      .locator('input, textarea, option')
      .evaluateAll((all) =>
        all.map((one) => (one as unknown as { value: string }).value).join(' '),
      );
    for (const field of stored) if (`${text} ${fields}`.includes(`${field}<img`)) seen.add(field);
    expect([path, await page.evaluate(HARM)]).toEqual([path, []]);
    expect([path, desk.complaints]).toEqual([path, []]);
  }

  it(
    'is text on every screen of an operator',
    async () => {
      await desk.signIn();
      const model = encodeURIComponent(encodeURIComponent(MODEL));
      for (const path of [
        ...[
          '/',
          '/accounts',
          `/accounts/${account}`,
          '/calls',
          `/calls/${ids.call ?? ''}`,
          '/tasks',
        ],
        ...[`/tasks/${ids.task ?? ''}`, '/decide', '/usage', '/margin', '/webhooks', '/deliveries'],
        ...['/usage?group_by=run', '/providers', '/models', '/price-books'],
        ...[`/models/${encodeURIComponent(MODEL)}`, `/models/${model}`, '/price-books/partners'],
        ...['/price-changes', '/catalog-check', '/acts', `/acts?target=${account}`],
        `/find?id=${encodeURIComponent(MODEL)}`,
        `/calls?model=${encodeURIComponent(MODEL)}`,
      ]) {
        await look(path);
      }
    },
    SCREENS_MS,
  );

  it(
    'is text on every screen of a customer',
    async () => {
      await desk.signIn(key);
      const month = new Date().toISOString().slice(0, 7);
      const asked = new URLSearchParams({ operation: 'audio-speech', model: MODEL }).toString();
      for (const path of [
        ...['/', `/playground?${asked}`, '/calls', `/calls/${ids.call ?? ''}`, '/tasks'],
        ...[`/tasks/${ids.task ?? ''}`, '/usage', '/usage?group_by=key', '/keys', '/webhooks'],
        ...['/models', `/models/${encodeURIComponent(MODEL)}`, '/statements', '/ledger'],
        `/statements/${month}`,
      ]) {
        await look(path);
      }
    },
    SCREENS_MS,
  );

  it('was shown, each field on one of the screens', () => {
    // A prompt is kept for the work alone, and shown to nobody.
    stored.delete('prompt');
    expect([...stored].filter((field) => !seen.has(field))).toEqual([]);
  });

  it(
    'is text in a statement that is opened to print',
    async () => {
      const month = new Date().toISOString().slice(0, 7);
      await desk.open(`/statements/${month}`, /^Statement of/);
      const opening = desk.page.context().waitForEvent('page');
      await desk.press('Open to print', 'link');
      const printed = await opening;
      await printed.getByText('payment<img').first().waitFor();
      expect(await printed.locator('img, script').count()).toBe(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );
});

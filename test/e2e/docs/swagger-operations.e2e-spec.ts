import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { type Browser, chromiumPath, startBrowser } from '../../support/browser.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestAccount } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { type Filling, SwaggerPage, type Tried } from '../../support/swagger-page.js';
import { pictureFile } from '../../support/image-desk.js';
import { BRISK } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const START_MS = 120_000;
const ALL_OPERATIONS_MS = 1_200_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Row {
  readonly path: string;
  readonly method: string;
  readonly id: string;
}

/** Elements of the browser, with the properties that are read there. */
interface Player {
  muted: boolean;
  readonly src: string;
  readonly duration: number;
  readonly currentTime: number;
  play(): Promise<void>;
}

const idOf = ({ json }: Tried) => (json as { readonly id: string }).id;
interface ListedRow {
  readonly id: string;
  /** Of a provider. */
  readonly routes?: readonly { readonly upstream_model: string }[];
}
const firstOf = ({ json }: Tried) => (json as { readonly data: readonly ListedRow[] }).data[0];
const firstIdOf = (list: Tried) => firstOf(list)?.id ?? 'none';

describeInBrowser('Swagger UI in a browser', () => {
  let gateway: TestGateway;
  let account: TestAccount;
  let browser: Browser;
  let swagger: SwaggerPage;
  let receiver: WebhookReceiver;
  let rows: readonly Row[];
  const done = new Map<string, Tried>();
  const players = new Map<string, { seconds: number; name: string | null; medium: string }>();

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    gateway = await startTestGateway({ ...BRISK, ...receiver.settings });
    account = await gateway.account(undefined, { scopes: ['read', 'call', 'manage'] });
    browser = await startBrowser();
    swagger = await SwaggerPage.open(browser, gateway.url);
    await swagger.authorize('api-key', account.key);
    await swagger.authorize('admin-token', ADMIN_TOKEN);
    const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    rows = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId: id }]) => ({ path, method, id })),
    );
  }, START_MS);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await receiver.stop();
  });

  /** Executes an operation by its id and expects success. */
  async function succeeds(id: string, filling: Filling = {}, isDone = true): Promise<Tried> {
    const row = rows.find((other) => other.id === id);
    if (!row) throw new Error(`no operation ${id}`);
    await swagger.search(row.path);
    const tried = await swagger.execute(row.method, row.path, filling);
    const said = tried.status < 300 ? '' : tried.bytes.toString();
    expect([id, said]).toEqual([id, '']);
    const medium = /^(audio|video)\//.exec(tried.headers['content-type'] ?? '')?.[1];
    if (medium !== undefined) {
      const { seconds, name } = await played(tried.block, medium);
      players.set(id, { seconds, name, medium });
    }
    // Answers that stay open make the page slow.
    if (isDone) await swagger.close(row.method, row.path);
    done.set(id, tried);
    return tried;
  }

  /** Waits for a task as a caller does. */
  async function ended(id: string): Promise<string> {
    for (;;) {
      const headers = { ...account.headers, prefer: 'wait=30' };
      const answer = await fetch(`${gateway.url}/v1/tasks/${id}`, { headers });
      const { status } = (await answer.json()) as { status: string };
      if (status !== 'queued' && status !== 'processing' && status !== 'in_progress') return status;
    }
  }

  /** Loads the media of a player: its length in seconds, and the name under which it is saved. */
  async function played(block: Locator, medium: string) {
    const element = block.locator(`.answer-player ${medium}`);
    await element.waitFor();
    const seconds = await element.evaluate(async (node) => {
      const media = node as unknown as Player;
      media.muted = true;
      await media.play();
      while (media.currentTime === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      if (!media.src.startsWith('blob:')) throw new Error(media.src);
      return media.duration;
    });
    const name = await block.locator('.answer-player a').getAttribute('download');
    return { seconds, name };
  }

  it(
    'plays and saves the very bytes a call answered, which is charged once',
    async () => {
      const answers: Buffer[] = [];
      await swagger.page.route('**/v1/audio/speech', async (route) => {
        const response = await route.fetch();
        answers.push(await response.body());
        await route.fulfill({ response });
      });
      const { block, headers } = await succeeds('createSpeech', {}, false);
      await swagger.page.unroute('**/v1/audio/speech');
      const saving = swagger.page.waitForEvent('download');
      await block.locator('.answer-player a').click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe('speech.mp3');
      const bytes = await readFile(await saved.path());
      expect(bytes.length).toBeGreaterThan(1_000);
      expect(answers.map((answer) => answer.equals(bytes))).toEqual([true]);
      expect(headers['content-type']).toBe('audio/mpeg');
      expect(await gateway.balance(account.accountId)).toMatchObject({ held: 0n, entries: 2 });
      expect(await gateway.upstreamRequests()).toHaveLength(1);
    },
    ALL_OPERATIONS_MS,
  );

  it(
    'executes every operation that takes an id, a body or a file as it is offered, with the id of a thing made before',
    async () => {
      const dub = await succeeds('createDubbing', {
        parameters: { 'x-gateway-run': 'build-42' },
        body: (offered) => ({ ...offered, webhook: receiver.url, webhook_secret: 'x'.repeat(32) }),
      });
      const video = await succeeds('createVideo');
      const unclear = await succeeds('createSong', {
        body: (offered) => ({ ...offered, prompt: 'A song [[sandbox:no-result]]' }),
      });
      const made = await succeeds('createAccount');
      const key = await succeeds('createAdminKey', { parameters: { id: idOf(made) } });
      const madeKey = await succeeds('createKey');
      const response = await succeeds('createResponse');
      const chat = await succeeds('createChatCompletion', { parameters: { Prefer: 'keep' } });
      const endpoint = await succeeds('createWebhookEndpoint');
      const operators = await succeeds('createAdminWebhookEndpoint', {
        parameters: { id: idOf(made) },
      });
      expect(await ended(idOf(dub))).toBe('succeeded');
      expect(await ended(idOf(video))).toBe('completed');
      expect(await ended(idOf(unclear))).toBe('reconciliation_required');
      const delivery = await succeeds('listTaskDeliveries', { parameters: { id: idOf(dub) } });
      const model = await succeeds('listModels');
      const provider = firstOf(await succeeds('listProviders'));
      await new ConsoleBrowser(gateway.url).signIn({ token: ADMIN_TOKEN });
      const session = await succeeds('listSessions');
      const execution = done.get('createSpeech')?.headers['x-gateway-execution-id'] ?? 'none';
      const ids: readonly (readonly [RegExp, string])[] = [
        [/\/admin\/tasks\/\{id\}\/resolve/, idOf(unclear)],
        [/\/tasks\//, idOf(dub)],
        [/\/videos\//, idOf(video)],
        [/\/executions\/\{id\}\/content/, chat.headers['x-gateway-execution-id'] ?? 'none'],
        [/\/executions\//, execution],
        [/\/models\//, firstIdOf(model)],
        [/\/admin\/accounts\//, idOf(made)],
        [/\/admin\/keys\//, idOf(key)],
        [/\/v1\/keys\//, idOf(madeKey)],
        [/\/v1\/webhook-endpoints\//, idOf(endpoint)],
        [/\/webhook-deliveries\//, firstIdOf(delivery)],
        [/\/admin\/price-books\//, 'partners'],
        [/\/admin\/sessions\//, firstIdOf(session)],
        [/\/runs\//, 'build-42'],
        [/\/v1\/responses\//, idOf(response)],
      ];
      // Only a waiting task can be cancelled, no response yet, and a revoked key cannot be changed.
      const apart = /^(cancel|delete|revoke)/;
      const inPath: readonly (readonly [name: string, valueAt: (path: string) => string])[] = [
        ['id', (path) => ids.find(([pattern]) => pattern.test(path))?.[1] ?? 'none'],
        ['endpoint_id', () => idOf(operators)],
        ['provider', () => provider?.id ?? 'none'],
        ['route', () => provider?.routes?.[0]?.upstream_model ?? 'none'],
        ['month', () => new Date().toISOString().slice(0, 7)],
        ['delivery_id', () => firstIdOf(delivery)],
      ];
      // Nothing is filled in for the others; `code-samples` calls all.
      await succeeds('createImageEdit', { files: { image: pictureFile() } });
      const offered = rows.filter(({ path, method }) => method !== 'get' || path.includes('{'));
      for (const { path, id } of offered) {
        if (done.has(id) || apart.test(id)) continue;
        const named = inPath.filter(([name]) => path.includes(`{${name}}`));
        const parameters = {
          ...(id === 'creditAccount' && { 'Idempotency-Key': 'invoice-17' }),
          ...Object.fromEntries(named.map(([name, valueAt]) => [name, valueAt(path)])),
        };
        await succeeds(id, { parameters });
      }
      await succeeds('deleteResponse', { parameters: { id: idOf(response) } });
      await succeeds('revokeKey', { parameters: { id: idOf(madeKey) } });
      await succeeds('deleteWebhookEndpoint', { parameters: { id: idOf(endpoint) } });
      await succeeds('deleteAdminWebhookEndpoint', {
        parameters: { id: idOf(made), endpoint_id: idOf(operators) },
      });
      await succeeds('revokeAdminKey', { parameters: { id: idOf(key) } });
      await succeeds('deleteAdminPriceBook', { parameters: { id: 'partners' } });
      const left = offered.filter(({ id }) => !done.has(id)).map(({ id }) => id);
      expect(left.sort()).toEqual(['cancelResponse', 'cancelTask']);
    },
    ALL_OPERATIONS_MS,
  );

  it('plays all audio and video that it answered, under the names of their files', () => {
    const heard = Object.fromEntries(players);
    expect(Object.keys(heard).sort()).toEqual([
      'createDialogue',
      'createIsolation',
      'createMusicComposition',
      'createSoundEffect',
      'createSpeech',
      'createVoiceChange',
      'retrieveTaskContent',
      'retrieveVideoContent',
    ]);
    expect([...players.values()].filter(({ seconds }) => !(seconds > 0.2))).toEqual([]);
    expect(heard.retrieveVideoContent).toMatchObject({ medium: 'video' });
    for (const id of ['retrieveTaskContent', 'retrieveVideoContent']) {
      const disposition = done.get(id)?.headers['content-disposition'];
      expect(disposition).toContain(`"${String(heard[id]?.name)}"`);
    }
  });

  it.each(['stream', 'tools', 'JSON schema', 'image'])(
    'chats by the example %s',
    async (example) => {
      await succeeds('createChatCompletion', { example });
    },
  );

  it('runs without an error of a script or in the console', () => {
    expect(swagger.complaints).toEqual([]);
  });

  it(
    'cancels a song that waits',
    async () => {
      const idle = await startTestGateway({ ROLE: 'api' });
      const other = await idle.account();
      const page = await SwaggerPage.open(browser, idle.url);
      await page.authorize('api-key', other.key);
      const song = await page.execute('post', '/v1/music/generations');
      const parameters = { id: idOf(song) };
      const { status, json } = await page.execute('post', '/v1/tasks/{id}/cancel', { parameters });
      expect([status, json]).toMatchObject([200, { error: { code: 'task_cancelled' } }]);
      await page.page.close();
      await idle.stop();
    },
    START_MS,
  );
});

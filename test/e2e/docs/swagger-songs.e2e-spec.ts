import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { EXAMPLE_TASK_ID } from '../../../src/music/dto/song-fields.js';
import { SONG_EXAMPLES } from '../../../src/music/dto/song-examples.js';
import { type Browser, chromiumPath, startBrowser } from '../../support/browser.js';
import { SongHarness } from '../../support/song-harness.js';

const PATIENCE_MS = 120_000;
const ALL_MODELS_MS = 600_000;
const PATH = '/v1/music/generations';
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

interface Document {
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { required: string[]; properties: object }>>;
  };
}
interface Operation {
  readonly requestBody: {
    readonly content: Readonly<Record<string, { schema: Schema; examples: object }>>;
  };
}
interface Schema {
  readonly oneOf: readonly { readonly $ref: string }[];
  readonly discriminator: { readonly mapping: Readonly<Record<string, string>> };
}

let harness: SongHarness;

beforeAll(async () => {
  harness = await SongHarness.start();
}, PATIENCE_MS);
afterAll(() => harness.stop());

describe('the OpenAPI document of POST /v1/music/generations', () => {
  it('has a schema per body, chosen by model, and an example per model', async () => {
    const answer = await fetch(`${harness.gateway.url}/openapi.json`);
    const document = (await answer.json()) as Document;
    const content = document.paths[PATH]?.post.requestBody.content['application/json'];
    const { oneOf, discriminator } = content!.schema;
    expect(discriminator).toMatchObject({ propertyName: 'model' });
    expect(Object.keys(discriminator.mapping)).toEqual(Object.keys(SONG_EXAMPLES));
    expect(Object.keys(content!.examples)).toEqual(Object.keys(SONG_EXAMPLES));
    expect(new Set(oneOf.map(({ $ref }) => $ref))).toEqual(
      new Set(Object.values(discriminator.mapping)),
    );
    for (const { $ref } of oneOf) {
      const body = document.components.schemas[$ref.split('/').at(-1) ?? ''];
      expect(body?.required).toContain('model');
      expect(body?.properties).toHaveProperty('webhook_secret');
    }
  });
});

describeInBrowser('Swagger UI in a browser', () => {
  let browser: Browser;
  let songs: Locator;

  beforeAll(async () => {
    browser = await startBrowser();
    const page = await browser.context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`${harness.gateway.url}/docs`);
    await authorize(page);
    songs = page.locator('.opblock', { has: page.locator(`[data-path="${PATH}"]`) });
    await songs.locator('.opblock-summary-control').click();
    await songs.locator('button.try-out__btn').click();
  }, PATIENCE_MS);
  afterAll(() => browser.close());

  /**
   * Chooses the example of a model, fills in the id of its source, sends it, and waits until the task has succeeded.
   */
  async function tried(model: string, sourceId: string | undefined): Promise<string> {
    const { summary } = SONG_EXAMPLES[model] ?? { summary: '' };
    await songs.locator('.examples-select select').first().selectOption(model);
    const text = songs.locator('textarea.body-param__text');
    const shown = await text.inputValue();
    expect([model, summary, (JSON.parse(shown) as { model: string }).model]).toEqual([
      model,
      summary,
      model,
    ]);
    if (shown.includes(EXAMPLE_TASK_ID)) {
      await text.fill(shown.replaceAll(EXAMPLE_TASK_ID, sourceId ?? 'none'));
    }
    const answered = songs
      .page()
      .waitForResponse((answer) => answer.url().endsWith(PATH) && answer.status() > 0);
    await songs.locator('button.execute').click();
    const answer = await answered;
    expect([model, answer.status()]).toEqual([model, 202]);
    const { id } = (await answer.json()) as { id: string };
    return id;
  }

  it(
    'runs each of the 42 models from its example; a follow-up needs the id of its source alone',
    async () => {
      const finished = async (model: string, source?: string): Promise<string> => {
        const { status, id } = await harness.ended(await tried(model, source));
        expect([model, status]).toEqual([model, 'succeeded']);
        return id;
      };
      const song = await finished('song-music');
      const extension = await finished('song-extend', song);
      const tune = await finished('tune-music');
      const sourceOf = (model: string): string => {
        if (model === 'song-concat') return extension;
        return model.startsWith('tune-') ? tune : song;
      };
      const others = Object.keys(SONG_EXAMPLES).filter(
        (model) => !['song-music', 'song-extend', 'tune-music'].includes(model),
      );
      const submitted: (readonly [string, string])[] = [];
      for (const model of others) submitted.push([model, await tried(model, sourceOf(model))]);
      for (const [model, id] of submitted) {
        expect([model, (await harness.ended(id)).status]).toEqual([model, 'succeeded']);
      }
      expect(submitted).toHaveLength(39);
    },
    ALL_MODELS_MS,
  );

  async function authorize(page: Page): Promise<void> {
    await page.click('button.authorize');
    const scheme = page.locator('.modal-ux .auth-container', { hasText: 'api-key' });
    await scheme.locator('input').fill(harness.account.key);
    await scheme.locator('button.authorize').click();
    await page.click('button.btn-done');
  }
});

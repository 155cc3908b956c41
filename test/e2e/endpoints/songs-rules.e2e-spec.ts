import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Catalog } from '../../../src/catalog/catalog.js';
import { type OwnSongHarness, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PATIENCE_MS = 120_000;
const bad = (param: string) => ({ status: 400, code: 'invalid_music_request', param });
const urls = (count: number) =>
  Array.from({ length: count }, (_value, index) => `https://example.com/${index}.mp3`);

let harness: OwnSongHarness;

beforeAll(async () => {
  harness = await SongHarness.start();
}, PATIENCE_MS);
afterAll(() => harness.stop());

const music = (fields: object = {}) => ({
  model: 'song-music',
  prompt: `${AT_ONCE}${randomUUID()}`,
  ...fields,
});

describe('POST /v1/music/generations', () => {
  it('answers 202 with the task, where to read it, and its price held (SONG-01, SONG-02)', async () => {
    const account = await harness.gateway.account();
    const body = music({ prompt: '[[sandbox:task-ms=3600000]] later' });
    const answer = await harness.post(body, {}, account);
    const task = (await answer.json()) as { id: string };
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/tasks/${task.id}`);
    expect(answer.headers.get('x-gateway-task-id')).toBe(task.id);
    expect(task).toMatchObject({ object: 'task', status: 'queued', modality: 'audio' });
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({ held: 75_000n });
  });

  it.each([[undefined], [''], [5]])('refuses model %j (SONG-03, G-77)', async (model) => {
    expect(await harness.refused({ prompt: 'x', model })).toMatchObject(bad('model'));
  });

  it('refuses a model that is unknown or no song (SONG-04, G-77)', async () => {
    expect(await harness.refused({ model: 'song-none' })).toMatchObject({
      status: 404,
      code: 'model_not_available',
    });
    expect(await harness.refused({ model: 'aud-v4', input: 'x' })).toMatchObject({
      status: 503,
      code: 'no_eligible_route',
    });
  });

  it('refuses a field of another model by its name (SONG-05)', async () => {
    expect(await harness.refused(music({ continue_at: 5 }))).toMatchObject(bad('continue_at'));
  });

  it('sends lyrics and style as such in custom mode (SONG-41)', async () => {
    const words = `${AT_ONCE}${randomUUID()}`;
    const style = { style: 'folk', title: 'Rain', negative_tags: 'metal', duration: 20 };
    await harness.made(music({ custom: true, prompt: words, ...style }));
    expect((await harness.sent('/music')).at(-1)).toMatchObject({
      custom: true,
      prompt: words,
      tags: 'folk',
      title: 'Rain',
      negative_tags: 'metal',
      duration: 20,
    });
  });

  it.each([{}, { max_mode: false }])(
    'sends the prompt as description outside custom mode, without Max mode: %j (SONG-32, SONG-40, SONG-45, SONG-49)',
    async (fields) => {
      const body = music({ variety: 'max', ...fields });
      const task = await harness.made(body);
      expect(task.charged_microusd).toBe('75000');
      const sent = (await harness.sent('/music')).at(-1);
      const description = { gpt_description_prompt: body.prompt };
      expect(sent).toMatchObject({ custom: false, variety: 4, ...description });
      expect(sent).not.toHaveProperty('max_mode');
      expect(sent).not.toHaveProperty('prompt');
    },
  );

  it('sends lyrics, tags and descriptions of source-based models (SONG-42, SONG-46)', async () => {
    const { id } = await harness.made(music());
    const words = { prompt: `${AT_ONCE}la`, tags: 'folk', title: 'R', negative_tags: 'metal' };
    for (const [model, source] of [
      ['song-cover', { source_task_id: id }],
      ['song-extend', { source_task_id: id, continue_at: 5 }],
      ['song-mashup', { source_task_ids: [id, id] }],
    ] as const) {
      const path = model.replace('song-', '/');
      await harness.made({ model, ...source, custom: true, ...words });
      const lyrics = (await harness.sent(path)).at(-1);
      expect(lyrics).toMatchObject({ custom: true, ...words });
      expect(lyrics).not.toHaveProperty('gpt_description_prompt');
      await harness.made({ model, ...source, gen_description: `${AT_ONCE}a waltz` });
      const described = (await harness.sent(path)).at(-1);
      const description = { gpt_description_prompt: `${AT_ONCE}a waltz` };
      expect(described).toMatchObject({ custom: false, ...description });
      expect(described).not.toHaveProperty('prompt');
    }
  });

  it('takes 1 to 4 clips to be inspired by, and 6 to 24 reference tracks (SONG-50, SONG-51, LIMIT-10)', async () => {
    const inspo = (count: number) => ({ model: 'song-inspo', audio_urls: urls(count) });
    const model = (count: number) => ({
      model: 'song-custom-model',
      name: 'Mine',
      audio_urls: urls(count),
    });
    for (const body of [inspo(1), inspo(4), model(6), model(24)]) await harness.submit(body);
    for (const body of [inspo(0), inspo(5), model(5), model(25)]) {
      expect(await harness.refused(body)).toMatchObject(bad('audio_urls'));
    }
  });

  it('refuses a webhook that is private, or without a secret (SONG-52)', async () => {
    const secret = { webhook_secret: 'x'.repeat(16) };
    for (const webhook of ['https://10.0.0.1/hook', 'http://example.com/hook', 'nowhere']) {
      expect(await harness.refused(music({ webhook, ...secret }))).toMatchObject({
        status: 400,
        code: 'invalid_task_command',
        param: 'webhook',
      });
    }
    expect(await harness.refused(music({ webhook: 'https://example.com/hook' }))).toMatchObject({
      code: 'invalid_task_command',
      param: 'webhook_secret',
    });
  });

  it('makes one task of two submissions with one key (SONG-53)', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const body = music();
    const account = await harness.gateway.account(200_000n);
    const submit = () => harness.submit(body, key, account);
    const [first, second] = await Promise.all([submit(), submit()]);
    expect(second.id).toBe(first.id);
    await harness.ended(first.id, account);
    const after = await harness.gateway.balance(account.accountId);
    expect(after).toMatchObject({ available: 125_000n, held: 0n });
    const sent = await harness.sent('/music');
    expect(sent.filter((request) => request.gpt_description_prompt === body.prompt)).toHaveLength(
      1,
    );
  });

  it('refuses another body with the same key (SONG-54, G-88)', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const account = await harness.gateway.account(200_000n);
    const { id } = await harness.submit(music(), key, account);
    const answer = await harness.post(music(), key, account);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ error: { code: 'idempotency_conflict' } });
    await harness.ended(id, account);
    const after = await harness.gateway.balance(account.accountId);
    expect(after).toMatchObject({ available: 125_000n, held: 0n });
    expect((await harness.ordered(account)).tasks).toBe(1);
  });

  it('needs the price to the last micro-USD (SONG-55)', async () => {
    expect(await harness.refused(music(), await harness.gateway.account(74_999n))).toMatchObject({
      status: 402,
      code: 'insufficient_funds',
    });
    const answer = await harness.post(music(), {}, await harness.gateway.account(75_000n));
    expect(answer.status).toBe(202);
  });

  it('names the URL that its text rules out', async () => {
    for (const url of ['ftp://example.com/a', 'http://127.0.0.1/a', 'https://u:p@example.com/a']) {
      expect(await harness.refused({ model: 'song-upload', audio_url: url })).toMatchObject(
        bad('audio_url'),
      );
      const clips = { model: 'song-inspo', audio_urls: [...urls(1), url] };
      const refusal = await harness.refused(clips);
      expect(refusal).toMatchObject(bad('audio_urls'));
      expect(refusal.message).toMatch(/^audio_urls\.1 /);
    }
  });

  it('lists all 42 models, and no model of the catalog is without a route', async () => {
    const answer = await fetch(`${harness.gateway.url}/v1/models`, {
      headers: harness.account.headers,
    });
    const { data } = (await answer.json()) as { data: { supported_endpoint_types: string[] }[] };
    const songs = data.filter((row) => row.supported_endpoint_types.includes('music-generation'));
    expect(songs).toHaveLength(42);
    expect(harness.gateway.app.get(Catalog).idle()).toEqual([]);
  });
});

describe('version', () => {
  it.each([
    [undefined, 'chirp-hawk'],
    ['v6', 'chirp-hawk'],
    ['v6-wild', 'chirp-hawk-wild'],
    ['v6-mini', 'chirp-goose'],
  ])('%s goes to the provider at the same price (SONG-29)', async (version, mv) => {
    const task = await harness.made(music({ version }));
    expect(task.charged_microusd).toBe('75000');
    expect((await harness.sent('/music')).at(-1)).toMatchObject({ mv });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SONG_EXAMPLES } from '../../../src/music/dto/song-examples.js';
import { type SongAnswer, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PATIENCE_MS = 180_000;

/**
 * Every model: its price in micro-USD, whether it has Max mode at twice the price, what its result holds in addition to
 * `urls`, and where the provider gets its request (the last one where there are two).
 */
const MODELS: readonly [
  id: string,
  model: string,
  price: number,
  max: 'yes' | 'no',
  fields: string,
  path: string,
][] = [
  ['SONGM-01', 'song-music', 75_000, 'yes', 'tracks', 'suno/v1/music'],
  ['SONGM-02', 'song-lyrics', 12_000, 'no', 'lyrics', 'suno/v1/lyrics'],
  ['SONGM-03', 'song-inspo', 102_000, 'yes', 'tracks', 'suno/v1/inspo'],
  ['SONGM-04', 'song-sounds', 14_400, 'no', 'tracks', 'suno/v1/sounds'],
  ['SONGM-05', 'song-style-boost', 6_000, 'no', 'text', 'suno/v1/upsample-tags'],
  ['SONGM-06', 'song-upload', 6_000, 'no', 'tracks', 'suno/v1/upload'],
  ['SONGM-07', 'song-upload-cover', 75_000, 'yes', 'tracks', 'suno/v1/cover'],
  ['SONGM-08', 'song-upload-extend', 75_000, 'yes', 'tracks', 'suno/v1/extend'],
  ['SONGM-09', 'song-custom-model', 1_440_000, 'no', 'custom_model', 'suno/v1/custom-model'],
  ['SONGM-10', 'song-extend', 75_000, 'yes', 'tracks', 'suno/v1/extend'],
  ['SONGM-11', 'song-cover', 75_000, 'yes', 'tracks', 'suno/v1/cover'],
  ['SONGM-12', 'song-remaster', 75_000, 'no', 'tracks', 'suno/v1/remaster'],
  ['SONGM-13', 'song-replace-section', 75_000, 'yes', 'tracks', 'suno/v1/replace-section'],
  ['SONGM-14', 'song-remove-section', 12_000, 'no', 'tracks', 'suno/v1/remove-section'],
  ['SONGM-15', 'song-crop', 12_000, 'no', 'tracks', 'suno/v1/crop'],
  ['SONGM-16', 'song-fade-in', 12_000, 'no', 'tracks', 'suno/v1/fade-in'],
  ['SONGM-17', 'song-fade-out', 12_000, 'no', 'tracks', 'suno/v1/fade-out'],
  ['SONGM-18', 'song-speed', 36_000, 'no', 'tracks', 'suno/v1/adjust-speed'],
  ['SONGM-19', 'song-concat', 6_000, 'no', 'tracks', 'suno/v1/concat'],
  ['SONGM-20', 'song-mashup', 75_000, 'yes', 'tracks', 'suno/v1/mashup'],
  ['SONGM-21', 'song-sample', 75_000, 'yes', 'tracks', 'suno/v1/sample'],
  ['SONGM-22', 'song-stems', 150_000, 'no', 'tracks', 'suno/v1/stems'],
  ['SONGM-23', 'song-stems-all', 360_000, 'no', 'tracks', 'suno/v1/stems-all'],
  ['SONGM-24', 'song-add-vocals', 75_000, 'yes', 'tracks', 'suno/v1/add-vocals'],
  ['SONGM-25', 'song-add-instrumental', 75_000, 'yes', 'tracks', 'suno/v1/add-instrumental'],
  ['SONGM-26', 'song-add-stem', 75_000, 'yes', 'tracks', 'suno/v1/add-stem'],
  ['SONGM-27', 'song-voice', 24_000, 'no', 'voice', 'suno/v1/create-voice'],
  ['SONGM-28', 'song-persona', 6_000, 'no', 'persona', 'suno/v1/persona'],
  ['SONGM-29', 'song-midi', 75_000, 'no', 'midi', 'suno/v1/gen-midi'],
  ['SONGM-30', 'song-timed-lyrics', 1_200, 'no', 'timed_lyrics', 'suno/v1/alignedLyrics'],
  ['SONGM-31', 'song-bpm', 1_200, 'no', 'bpm', 'suno/v1/bpm'],
  ['SONGM-32', 'song-mp4', 6_000, 'no', 'tracks,videos', 'suno/v1/mp4'],
  ['SONGM-33', 'song-download', 2_400, 'no', 'files', 'suno/v1/download'],
  ['SONGM-34', 'tune-music', 90_000, 'no', 'tracks', 'flowmusic/v1/generations'],
  ['SONGM-35', 'tune-music-lyrics', 30_000, 'no', 'lyrics', 'flowmusic/v1/lyrics'],
  ['SONGM-36', 'tune-music-extend', 90_000, 'no', 'tracks', 'flowmusic/v1/extend'],
  ['SONGM-37', 'tune-music-replace', 90_000, 'no', 'tracks', 'flowmusic/v1/replace'],
  ['SONGM-38', 'tune-music-cover', 90_000, 'no', 'tracks', 'flowmusic/v1/cover'],
  ['SONGM-39', 'tune-music-stems', 90_000, 'no', 'tracks', 'flowmusic/v1/stems'],
  ['SONGM-40', 'tune-music-upload', 15_000, 'no', 'tracks', 'flowmusic/v1/upload'],
  ['SONGM-41', 'tune-music-download', 30_000, 'no', 'tracks,files', 'flowmusic/v1/download'],
  ['SONGM-42', 'tune-music-video', 30_000, 'no', 'tracks,videos', 'flowmusic/v1/video'],
];

let harness: SongHarness;
const sources = new Map<string, SongAnswer>();

beforeAll(async () => {
  harness = await SongHarness.shared();
  const [song, extension, tune] = await Promise.all([
    harness.made({ model: 'song-music', custom: true, prompt: 'The rain is writing' }),
    harness
      .made({ model: 'song-upload', audio_url: 'https://example.com/a.mp3', title: 'Demo' })
      .then(({ id }) => harness.made({ ...body('song-extend'), source_task_id: id })),
    harness.made(body('tune-music')),
  ]);
  sources.set('song', song).set('song-concat', extension).set('tune', tune);
}, PATIENCE_MS);
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.stop();
});

/** The example of a model, with a real source if it needs one. */
function body(model: string): Record<string, unknown> {
  const { summary: _, ...fields } = SONG_EXAMPLES[model] ?? { summary: '' };
  const source = sources.get(model) ?? sources.get(model.split('-')[0] ?? '');
  return {
    model,
    ...fields,
    ...(fields.source_task_id !== undefined && { source_task_id: source?.id }),
    ...(fields.source_task_ids !== undefined && { source_task_ids: [source?.id, source?.id] }),
  };
}

const balance = () => harness.gateway.balance(harness.account.accountId);

describe('POST /v1/music/generations', () => {
  it.each(MODELS)(
    '%s: %s is held at its price, reaches the provider, and brings what it promises (SONG-84)',
    async (_id, model, price, _max, fields, path) => {
      const before = await balance();
      const submitted = await harness.submit(body(model));
      expect(submitted).toMatchObject({
        status: 'queued',
        modality: 'audio',
        progress: null,
        result: null,
        reserved_microusd: String(price),
        charged_microusd: null,
      });
      const task = await harness.ended(submitted.id);
      expect(task).toMatchObject({
        status: 'succeeded',
        charged_microusd: String(price),
        error: null,
      });
      const after = await balance();
      expect([before.available - after.available, after.held]).toEqual([BigInt(price), 0n]);
      expect(Object.keys(task.result)).toEqual(['urls', ...fields.split(',')]);
      expect((await harness.lastOrder()).path).toBe(`/ttapi/${path}`);
      if (/^tune.*tracks/.test(`${model} ${fields}`)) expect(task.result.tracks).toHaveLength(1);
    },
    PATIENCE_MS,
  );

  it.each(MODELS.filter(([, , , max]) => max === 'yes'))(
    '%s: %s in Max mode is held at twice its price and asks the provider for it (SONG-33, SONG-37)',
    async (_id, model, price) => {
      const { gen_description: _, ...example } = body(model);
      const hasCustom = !['song-inspo', 'song-replace-section', 'song-add-stem'].includes(model);
      const custom = hasCustom ? { custom: true, prompt: `${AT_ONCE}la la` } : {};
      const before = await balance();
      const task = await harness.made({ ...example, ...custom, max_mode: true });
      expect(before.available - (await balance()).available).toBe(BigInt(price * 2));
      expect(task).toMatchObject({
        reserved_microusd: String(price * 2),
        charged_microusd: String(price * 2),
      });
      expect((await harness.lastOrder()).body).toMatchObject({ max_mode: true });
    },
    PATIENCE_MS,
  );

  it.each(MODELS.filter(([, , , max]) => max === 'no'))(
    '%s: %s refuses max_mode whatever its value (SONG-34, SONG-35, G-74)',
    async (_id, model) => {
      for (const max of [true, false]) {
        expect(await harness.refused({ ...body(model), max_mode: max })).toMatchObject({
          status: 400,
          code: 'invalid_music_request',
          param: 'max_mode',
        });
      }
    },
  );
});

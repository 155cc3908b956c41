import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SongAnswer, SongDesk } from '../../support/song-desk.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PATIENCE_MS = 180_000;
const bad = (param: string) => ({ status: 400, code: 'invalid_music_request', param });
const notReady = (field: string) => ({
  status: 409,
  code: 'source_task_not_ready',
  type: 'invalid_request_error',
  param: field,
  message: `${field}: ${field} has not finished successfully`,
});

let desk: SongDesk;
/** Two tracks, a persona, a custom model, a clip of the other family, a running task and a failed one. */
let song: SongAnswer;
let persona: SongAnswer;
let customModel: SongAnswer;
let tune: SongAnswer;
let running: SongAnswer;
let failed: SongAnswer;

beforeAll(async () => {
  desk = await SongDesk.start();
  [song, customModel, tune, running, failed] = await Promise.all([
    desk.made({ model: 'song-music', prompt: `${AT_ONCE}a song` }),
    desk.made({ model: 'song-custom-model', name: `${AT_ONCE}Mine`, audio_urls: urls(6) }),
    desk.made({ model: 'tune-music', prompt: `${AT_ONCE}a tune` }),
    desk.submit({ model: 'song-music', prompt: '[[sandbox:task-ms=3600000]] later' }),
    desk
      .submit({ model: 'song-music', prompt: `${AT_ONCE}[[sandbox:task-fails]] never` })
      .then(({ id }) => desk.ended(id)),
  ]);
  persona = await desk.made({ model: 'song-persona', source_task_id: song.id, name: 'Ann' });
}, PATIENCE_MS);
afterAll(() => desk.stop());

const urls = (count: number) =>
  Array.from({ length: count }, (_value, index) => `https://example.com/${index}.mp3`);
const bpm = (fields: object) => ({ model: 'song-bpm', source_task_id: song.id, ...fields });
const cover = (fields: object) => ({
  model: 'song-cover',
  source_task_id: song.id,
  gen_description: `${AT_ONCE}${randomUUID()}`,
  ...fields,
});
const mashup = (fields: object) => ({
  model: 'song-mashup',
  source_task_ids: [song.id, song.id],
  gen_description: `${AT_ONCE}${randomUUID()}`,
  ...fields,
});
/** The last request of a cover or mashup that the provider got. */
const lastSent = async (path: string) => (await desk.sent(path)).at(-1);

describe('source_task_id and source_index', () => {
  it('name a track, the first unless told otherwise (SONG-06, SONG-12, SONG-13, SONG-85)', async () => {
    const [first, second] = song.result.tracks;
    for (const [fields, track] of [
      [{}, first],
      [{ source_index: 1 }, first],
      [{ source_index: 2 }, second],
    ] as const) {
      await desk.made(bpm(fields));
      expect(await lastSent('/bpm')).toMatchObject({ music_id: track?.id });
    }
  });

  it('reach the eighth track of a task (SONG-14, LIMIT-10)', async () => {
    const prompt = `${AT_ONCE}[[sandbox:tracks=8]] many`;
    const many = await desk.made({ model: 'song-music', prompt });
    expect(many.result.tracks.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await desk.made({ model: 'song-bpm', source_task_id: many.id, source_index: 8 });
    expect(await lastSent('/bpm')).toMatchObject({ music_id: many.result.tracks[7]?.id });
  });

  it.each([0, 9, -1, 1.5, '1'])(
    'are refused with source_index %j (SONG-15, LIMIT-10)',
    async (index) => {
      expect(await desk.refused(bpm({ source_index: index }))).toMatchObject(bad('source_index'));
    },
  );

  it('are refused beyond the tracks of the task (SONG-16)', async () => {
    expect(await desk.refused(bpm({ source_index: 3 }))).toMatchObject(bad('source_index'));
  });

  it('are refused while the source is on its way (SONG-07)', async () => {
    expect(await desk.refused(bpm({ source_task_id: running.id }))).toMatchObject(
      notReady('source_task_id'),
    );
  });

  it('are refused when the source failed (SONG-08, SONG-57)', async () => {
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'provider_task_failed' },
      charged_microusd: null,
    });
    expect(await desk.refused(bpm({ source_task_id: failed.id }))).toMatchObject(
      notReady('source_task_id'),
    );
  });

  it('are refused alike for what is unknown, foreign, of another family, or no task (SONG-09)', async () => {
    const stranger = await desk.gateway.account();
    const foreign = await desk.refused(bpm({}), stranger);
    const unknown = await desk.refused(bpm({ source_task_id: `task_${'0'.repeat(32)}` }));
    expect(foreign).toEqual(unknown);
    expect(unknown).toMatchObject(bad('source_task_id'));
    for (const id of [tune.id, song.result.tracks[0]?.id, song.id.slice(5), 5]) {
      expect(await desk.refused(bpm({ source_task_id: id }))).toMatchObject(bad('source_task_id'));
    }
    expect(
      await desk.refused({ model: 'tune-music-stems', source_task_id: song.id }),
    ).toMatchObject(bad('source_task_id'));
  });

  it('are refused for a task without tracks, and for a track that is no extension', async () => {
    expect(await desk.refused(bpm({ source_task_id: persona.id }))).toMatchObject(
      bad('source_task_id'),
    );
    expect(await desk.refused({ model: 'song-concat', source_task_id: song.id })).toMatchObject(
      bad('source_task_id'),
    );
  });

  it('are required on a follow-up and refused elsewhere (SONG-10, SONG-11)', async () => {
    expect(await desk.refused({ model: 'song-bpm' })).toMatchObject(bad('source_task_id'));
    expect(
      await desk.refused({ model: 'song-lyrics', prompt: 'x', source_task_id: song.id }),
    ).toMatchObject(bad('source_task_id'));
  });

  it('bound the places that a follow-up may name', async () => {
    const end = Number(song.result.tracks[0]?.duration_seconds);
    expect(
      await desk.refused({
        model: 'song-crop',
        source_task_id: song.id,
        start_s: 1,
        end_s: Math.ceil(end) + 2,
      }),
    ).toMatchObject(bad('end_s'));
    expect(
      await desk.refused({
        model: 'song-fade-in',
        source_task_id: song.id,
        fade_time_s: Math.ceil(end) + 1,
      }),
    ).toMatchObject(bad('fade_time_s'));
  });
});

describe('source_task_ids and source_indexes', () => {
  it('name two tracks in order, also of one task (SONG-17, SONG-20)', async () => {
    const [first, second] = song.result.tracks;
    await desk.made(mashup({}));
    expect(await lastSent('/mashup')).toMatchObject({ music_ids: [first?.id, first?.id] });
    await desk.made(mashup({ source_indexes: [2, 1] }));
    expect(await lastSent('/mashup')).toMatchObject({ music_ids: [second?.id, first?.id] });
  });

  it('are refused unless there are exactly two (SONG-18)', async () => {
    for (const ids of [[], [song.id], [song.id, song.id, song.id], [1, 2], undefined]) {
      expect(await desk.refused(mashup({ source_task_ids: ids }))).toMatchObject(
        bad('source_task_ids'),
      );
    }
  });

  it('are refused with invalid positions (SONG-21)', async () => {
    for (const indexes of [[1], [1, 2, 3], [0, 1], [1, 9], '1,1', [1, 3]]) {
      expect(await desk.refused(mashup({ source_indexes: indexes }))).toMatchObject(
        bad('source_indexes'),
      );
    }
  });

  it('are refused while one of them is on its way (SONG-22)', async () => {
    expect(await desk.refused(mashup({ source_task_ids: [song.id, running.id] }))).toMatchObject(
      notReady('source_task_ids'),
    );
  });

  it('are refused on any other model (SONG-19)', async () => {
    expect(await desk.refused(bpm({ source_task_ids: [song.id, song.id] }))).toMatchObject(
      bad('source_task_ids'),
    );
    expect(await desk.refused(bpm({ source_indexes: [1, 1] }))).toMatchObject(
      bad('source_indexes'),
    );
  });
});

describe('persona_task_id and custom_model_task_id', () => {
  it('give the song its singer (SONG-23, SONG-64)', async () => {
    const { id } = persona.result.persona as { id: string };
    await desk.made(cover({ persona_task_id: persona.id }));
    expect(await lastSent('/cover')).toMatchObject({ persona_id: id, mv: 'chirp-hawk' });
  });

  it('stand in for a version (SONG-26, SONG-65)', async () => {
    const { id, name } = customModel.result.custom_model as { id: string; name: string };
    expect(name).toBe('Mine');
    await desk.made(cover({ custom_model_task_id: customModel.id }));
    expect(await lastSent('/cover')).toMatchObject({ mv: id });
  });

  it('are refused while their task is on its way (SONG-24, SONG-27)', async () => {
    const model = await desk.submit({
      model: 'song-custom-model',
      name: '[[sandbox:task-ms=3600000]]Mine',
      audio_urls: urls(7),
    });
    expect(await desk.refused(cover({ custom_model_task_id: model.id }))).toMatchObject(
      notReady('custom_model_task_id'),
    );
    const slow = await desk.submit({
      model: 'song-persona',
      source_task_id: song.id,
      name: '[[sandbox:delay=5000]]Ann',
    });
    expect(await desk.refused(cover({ persona_task_id: slow.id }))).toMatchObject(
      notReady('persona_task_id'),
    );
  });

  it('are refused for a task of another operation, finished or not (SONG-24, SONG-27)', async () => {
    for (const field of ['persona_task_id', 'custom_model_task_id']) {
      for (const task of [song, running]) {
        expect(await desk.refused(cover({ [field]: task.id }))).toMatchObject(bad(field));
      }
    }
  });

  it('are refused together, and a custom model with a version (SONG-25, SONG-28)', async () => {
    expect(
      await desk.refused(
        cover({ persona_task_id: persona.id, custom_model_task_id: customModel.id }),
      ),
    ).toMatchObject(bad('persona_task_id'));
    expect(
      await desk.refused(cover({ version: 'v6', custom_model_task_id: customModel.id })),
    ).toMatchObject(bad('version'));
  });
});

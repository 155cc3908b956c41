import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromPublicId } from '../../../src/common/ids/public-id.js';
import { type SongAnswer, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PATIENCE_MS = 180_000;
const NEVER = '[[sandbox:task-ms=3600000]] later';
const bad = (param: string) => ({ status: 400, code: 'invalid_music_request', param });
const notReady = (field: string) => ({
  status: 409,
  code: 'source_task_not_ready',
  type: 'invalid_request_error',
  param: field,
  message: `${field}: ${field} has not finished successfully`,
});

let harness: SongHarness;
/** Two tracks, a persona, a clip of the other family, a running task and a failed one. */
let song: SongAnswer;
let persona: SongAnswer;
let tune: SongAnswer;
let running: SongAnswer;
let failed: SongAnswer;

beforeAll(async () => {
  harness = await SongHarness.shared();
  [song, tune, running, failed] = await Promise.all([
    harness.made({ model: 'song-music', prompt: `${AT_ONCE}a song` }),
    harness.made({ model: 'tune-music', prompt: `${AT_ONCE}a tune` }),
    harness.submit({ model: 'song-music', prompt: NEVER }),
    harness
      .submit({ model: 'song-music', prompt: `${AT_ONCE}[[sandbox:task-fails]] never` })
      .then(({ id }) => harness.ended(id)),
  ]);
  persona = await harness.made({ model: 'song-persona', source_task_id: song.id, name: 'Ann' });
}, PATIENCE_MS);
afterAll(() => harness.stop());

const bpm = (fields: object) => ({ model: 'song-bpm', source_task_id: song.id, ...fields });
const mashup = (fields: object) => ({
  model: 'song-mashup',
  source_task_ids: [song.id, song.id],
  gen_description: `${AT_ONCE}${randomUUID()}`,
  ...fields,
});
/** The last request that the provider got at a path. */
const lastSent = async (path: string) => (await harness.sent(path)).at(-1);

describe('source_task_id and source_index', () => {
  it('name a track, by default the first (SONG-06, SONG-12, SONG-13, SONG-85)', async () => {
    const [first, second] = song.result.tracks;
    for (const [fields, track] of [
      [{}, first],
      [{ source_index: 1 }, first],
      [{ source_index: 2 }, second],
    ] as const) {
      await harness.made(bpm(fields));
      expect(await lastSent('/bpm')).toMatchObject({ music_id: track?.id });
    }
  });

  it('reach the eighth track of a task (SONG-14, LIMIT-10)', async () => {
    const prompt = `${AT_ONCE}[[sandbox:tracks=8]] many`;
    const many = await harness.made({ model: 'song-music', prompt });
    expect(many.result.tracks.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await harness.made({ model: 'song-bpm', source_task_id: many.id, source_index: 8 });
    expect(await lastSent('/bpm')).toMatchObject({ music_id: many.result.tracks[7]?.id });
  });

  it.each([0, 9, -1, 1.5, '1'])(
    'are refused with source_index %j (SONG-15, LIMIT-10)',
    async (index) => {
      expect(await harness.refused(bpm({ source_index: index }))).toMatchObject(
        bad('source_index'),
      );
    },
  );

  it('are refused beyond the tracks of the task (SONG-16, G-71)', async () => {
    expect(await harness.refused(bpm({ source_index: 3 }))).toMatchObject(bad('source_index'));
  });

  it('are refused while the source is on its way (SONG-07, G-69)', async () => {
    expect(await harness.refused(bpm({ source_task_id: running.id }))).toMatchObject(
      notReady('source_task_id'),
    );
  });

  it('are refused when the source failed (SONG-08)', async () => {
    expect(failed.status).toBe('failed');
    expect(await harness.refused(bpm({ source_task_id: failed.id }))).toMatchObject(
      notReady('source_task_id'),
    );
  });

  it.each(['expired', 'reconciliation_required'])(
    'are refused when the source is %s (SONG-08)',
    async (status) => {
      const { id } = await harness.submit({ model: 'song-music', prompt: NEVER });
      const uuid = fromPublicId('task', id) ?? '';
      const query = (sql: string) => harness.gateway.dataSource.query(sql, [uuid]);
      await query('DELETE FROM task_work WHERE task_id = $1');
      await query(`UPDATE task SET status = '${status}', completed_at = now() WHERE id = $1`);
      expect((await harness.read(id)).status).toBe(status);
      expect(await harness.refused(bpm({ source_task_id: id }))).toMatchObject(
        notReady('source_task_id'),
      );
    },
  );

  it('are refused alike for what is unknown, foreign, of another family, or no task (SONG-09, G-70)', async () => {
    const stranger = await harness.gateway.account();
    const foreign = await harness.refused(bpm({}), stranger);
    const unknown = await harness.refused(bpm({ source_task_id: `task_${'0'.repeat(32)}` }));
    expect(foreign).toEqual(unknown);
    expect(unknown).toMatchObject(bad('source_task_id'));
    for (const id of [tune.id, song.result.tracks[0]?.id, song.id.slice(5), 5]) {
      expect(await harness.refused(bpm({ source_task_id: id }))).toMatchObject(
        bad('source_task_id'),
      );
    }
    expect(
      await harness.refused({ model: 'tune-music-stems', source_task_id: song.id }),
    ).toMatchObject(bad('source_task_id'));
  });

  it('are refused for a task without tracks, and for a track that is no extension', async () => {
    expect(await harness.refused(bpm({ source_task_id: persona.id }))).toMatchObject(
      bad('source_task_id'),
    );
    expect(await harness.refused({ model: 'song-concat', source_task_id: song.id })).toMatchObject(
      bad('source_task_id'),
    );
  });

  it('are required on a follow-up and refused elsewhere (SONG-10, SONG-11)', async () => {
    expect(await harness.refused({ model: 'song-bpm' })).toMatchObject(bad('source_task_id'));
    expect(
      await harness.refused({ model: 'song-lyrics', prompt: 'x', source_task_id: song.id }),
    ).toMatchObject(bad('source_task_id'));
  });

  it('limit the positions that a follow-up may name', async () => {
    const end = Number(song.result.tracks[0]?.duration_seconds);
    expect(
      await harness.refused({
        model: 'song-crop',
        source_task_id: song.id,
        start_s: 1,
        end_s: Math.ceil(end) + 2,
      }),
    ).toMatchObject(bad('end_s'));
    expect(
      await harness.refused({
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
    await harness.made(mashup({}));
    expect(await lastSent('/mashup')).toMatchObject({ music_ids: [first?.id, first?.id] });
    await harness.made(mashup({ source_indexes: [2, 1] }));
    expect(await lastSent('/mashup')).toMatchObject({ music_ids: [second?.id, first?.id] });
    const other = await harness.made({ model: 'song-music', prompt: `${AT_ONCE}another song` });
    const ids = other.result.tracks.map(({ id }) => id);
    await harness.made(mashup({ source_task_ids: [other.id, song.id], source_indexes: [2, 1] }));
    expect(await lastSent('/mashup')).toMatchObject({ music_ids: [ids[1], first?.id] });
    await harness.made(mashup({ source_task_ids: [song.id, other.id] }));
    expect(await lastSent('/mashup')).toMatchObject({ music_ids: [first?.id, ids[0]] });
  });

  it('are refused unless there are exactly two (SONG-18)', async () => {
    for (const ids of [[], [song.id], [song.id, song.id, song.id], [1, 2], undefined]) {
      expect(await harness.refused(mashup({ source_task_ids: ids }))).toMatchObject(
        bad('source_task_ids'),
      );
    }
  });

  it('are refused with invalid positions (SONG-21, G-71)', async () => {
    for (const indexes of [[1], [1, 2, 3], [0, 1], [1, 9], '1,1', [1, 3]]) {
      expect(await harness.refused(mashup({ source_indexes: indexes }))).toMatchObject(
        bad('source_indexes'),
      );
    }
  });

  it.each(['running', 'failed'])('are refused while one of them is %s (SONG-22)', async (which) => {
    const other = which === 'running' ? running.id : failed.id;
    for (const ids of [
      [song.id, other],
      [other, song.id],
    ]) {
      expect(await harness.refused(mashup({ source_task_ids: ids }))).toMatchObject(
        notReady('source_task_ids'),
      );
    }
  });

  it('are refused where one of them is unknown or of another family (SONG-09)', async () => {
    for (const other of [`task_${'0'.repeat(32)}`, tune.id, persona.id]) {
      for (const ids of [
        [song.id, other],
        [other, song.id],
      ]) {
        expect(await harness.refused(mashup({ source_task_ids: ids }))).toMatchObject(
          bad('source_task_ids'),
        );
      }
    }
  });

  it('are refused on any other model (SONG-19)', async () => {
    expect(await harness.refused(bpm({ source_task_ids: [song.id, song.id] }))).toMatchObject(
      bad('source_task_ids'),
    );
    expect(await harness.refused(bpm({ source_indexes: [1, 1] }))).toMatchObject(
      bad('source_indexes'),
    );
  });
});

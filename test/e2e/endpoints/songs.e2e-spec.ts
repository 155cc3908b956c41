import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SONG_MODELS } from '../../../src/catalog/models/song.models.js';
import { TUNE_MODELS } from '../../../src/catalog/models/tune.models.js';
import { SONG_EXAMPLES } from '../../../src/music/dto/song-examples.js';
import { type SongAnswer, SongDesk } from '../../support/song-desk.js';

const ROWS = [...SONG_MODELS, ...TUNE_MODELS];
const PATIENCE_MS = 180_000;

/** The fields of the result besides `urls` and `tracks`, by model; the rest brings tracks. */
const OTHER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'song-lyrics': ['lyrics'],
  'song-style-boost': ['text'],
  'song-custom-model': ['custom_model'],
  'song-voice': ['voice'],
  'song-persona': ['persona'],
  'song-midi': ['midi'],
  'song-timed-lyrics': ['timed_lyrics'],
  'song-bpm': ['bpm'],
  'song-mp4': ['tracks', 'videos'],
  'song-download': ['files'],
  'tune-music-lyrics': ['lyrics'],
  'tune-music-download': ['tracks', 'files'],
  'tune-music-video': ['tracks', 'videos'],
};

let desk: SongDesk;
const sources = new Map<string, SongAnswer>();

beforeAll(async () => {
  desk = await SongDesk.start();
  const [song, extension, tune] = await Promise.all([
    desk.made({ model: 'song-music', custom: true, prompt: 'The rain is writing' }),
    desk
      .made({ model: 'song-upload', audio_url: 'https://example.com/a.mp3', title: 'Demo' })
      .then(({ id }) => desk.made({ ...body('song-extend'), source_task_id: id })),
    desk.made(body('tune-music')),
  ]);
  sources.set('song', song).set('song-concat', extension).set('tune', tune);
}, PATIENCE_MS);
afterAll(() => desk.stop());

/** The example of a model, with a real source where it needs one. */
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

/** The row of the conformance list for a model. */
function idOf(index: number): string {
  return `SONGM-${String(index + 1).padStart(2, '0')}`;
}

describe('POST /v1/music/generations', () => {
  it.each(ROWS.map((row, index) => [row.id, idOf(index), row] as const))(
    '%s is held at its price, reaches the provider, and brings what it promises (%s)',
    async (_model, _id, row) => {
      const { microUsd } = row.price;
      const submitted = await desk.submit(body(row.id));
      expect(submitted).toMatchObject({
        status: 'queued',
        modality: 'audio',
        progress: null,
        result: null,
        reserved_microusd: microUsd.toString(),
        charged_microusd: null,
      });
      const task = await desk.ended(submitted.id);
      expect(task).toMatchObject({
        status: 'succeeded',
        charged_microusd: microUsd.toString(),
        error: null,
      });
      const fields = OTHER_FIELDS[row.id] ?? ['tracks'];
      expect(Object.keys(task.result)).toEqual(['urls', ...fields]);
    },
    PATIENCE_MS,
  );
});

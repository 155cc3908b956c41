import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SongAnswer, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PATIENCE_MS = 180_000;
const URL_TEXT = expect.stringMatching(/^https?:\/\//);

let harness: SongHarness;
let song: SongAnswer;
let tune: SongAnswer;

beforeAll(async () => {
  harness = await SongHarness.shared();
  [song, tune] = await Promise.all([
    harness.made({
      model: 'song-music',
      custom: true,
      prompt: `${AT_ONCE}The rain is writing`,
      style: 'folk',
      title: 'Rain',
    }),
    harness.made({
      model: 'tune-music',
      prompt: `${AT_ONCE}folk`,
      lyrics: 'The rain',
      duration: 10,
    }),
  ]);
}, PATIENCE_MS);
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.stop();
});

const from = (model: string, fields: object = {}) =>
  harness.made({
    model,
    source_task_id: model.startsWith('tune-') ? tune.id : song.id,
    ...fields,
  });

describe('the result of a song task', () => {
  it('is charged what was held, and has both tracks in order (SONG-56, SONG-59, SONG-71, SONG-85)', () => {
    expect(song.charged_microusd).toBe(song.reserved_microusd);
    expect(song.result.tracks.map(({ index }) => index)).toEqual([1, 2]);
  });

  it('has the fields of each track and nothing else (SONG-72, SONG-73, SONG-75, SONG-78, SONG-79, SONG-80)', () => {
    for (const track of song.result.tracks) {
      expect(track).toEqual({
        index: expect.any(Number),
        id: expect.any(String),
        audio_url: URL_TEXT,
        image_url: URL_TEXT,
        duration_seconds: expect.any(Number),
        title: 'Rain',
        lyrics: 'The rain is writing',
        tags: 'folk',
        status: 'complete',
      });
    }
  });

  it('lists the URLs of the tracks, and no cover art (SONG-58)', () => {
    expect(song.result.urls).toEqual(song.result.tracks.map(({ audio_url: url }) => url));
  });

  it('never takes the id of a track back (SONG-72)', async () => {
    const body = { model: 'song-bpm', source_task_id: song.result.tracks[0]?.id };
    expect(await harness.refused(body)).toMatchObject({ param: 'source_task_id' });
  });

  it('has words of a text-only operation, and no URL (SONG-58, SONG-60, SONG-70)', async () => {
    const { result } = await harness.made({ model: 'song-lyrics', prompt: `${AT_ONCE}a farewell` });
    expect(Object.keys(result)).toEqual(['urls', 'lyrics']);
    expect(result.urls).toEqual([]);
    expect(result.lyrics).toEqual(
      expect.arrayContaining([expect.objectContaining({ text: expect.stringMatching(/./) })]),
    );
  });

  it(
    'has a file per format, in the order asked for, at one price (SONG-61, G-31)',
    async () => {
      const { result, charged_microusd: charged } = await from('song-download', {
        formats: ['wav', 'mp3'],
      });
      expect(charged).toBe('2400');
      expect(result.files).toEqual([
        { format: 'wav', url: URL_TEXT },
        { format: 'mp3', url: URL_TEXT },
      ]);
      expect(result.urls).toEqual((result.files as { url: string }[]).map(({ url }) => url));
    },
    PATIENCE_MS,
  );

  it('has the video of a track (SONG-62, SONG-76)', async () => {
    const { result } = await from('song-mp4');
    expect(result.videos).toEqual([expect.stringMatching(/^http.*\.mp4/)]);
    expect(result.urls).toEqual(result.videos);
    expect(result.tracks).toEqual([
      { index: 1, video_url: (result.videos as string[])[0], mime_type: 'video/mp4' },
    ]);
  });

  it('has the expanded style (SONG-63)', async () => {
    const { result } = await harness.made({ model: 'song-style-boost', tags: 'dream pop' });
    expect(result).toEqual({ urls: [], text: expect.stringContaining('dream pop') });
  });

  it('has a persona, a voice and a custom model (SONG-64, SONG-65, SONG-69)', async () => {
    const audio = 'https://example.com/a.mp3';
    const [persona, voice, model] = await Promise.all([
      from('song-persona', { name: 'Ann', vocal_start_s: 1, vocal_end_s: 4 }),
      harness.made({ model: 'song-voice', audio_url: audio, name: `${AT_ONCE}Ann` }),
      harness.made({
        model: 'song-custom-model',
        name: `${AT_ONCE}Mine`,
        audio_urls: [1, 2, 3, 4, 5, 6].map((number) => `${audio}?${number}`),
      }),
    ]);
    expect(persona.result).toEqual({ urls: [], persona: { id: expect.any(String) } });
    expect(model.result).toEqual({
      urls: [],
      custom_model: { id: expect.any(String), name: 'Mine' },
    });
    const facts = Object.entries(voice.result.voice as object);
    expect(facts).toContainEqual(['name', 'Ann']);
    for (const [, fact] of facts) expect(['string', 'number', 'boolean']).toContain(typeof fact);
  });

  it('has the tempo, the notes and the times of the words (SONG-66, SONG-67, SONG-68)', async () => {
    const [bpm, midi, words] = await Promise.all([
      from('song-bpm'),
      from('song-midi'),
      from('song-timed-lyrics'),
    ]);
    expect(bpm.result).toEqual({
      urls: [],
      bpm: expect.objectContaining({ average: expect.any(Number) }),
    });
    expect(midi.result.midi).toEqual({ state: 'complete', instruments: expect.any(Array) });
    const [instrument] = (midi.result.midi as { instruments: { notes: object[] }[] }).instruments;
    expect(instrument).toMatchObject({ name: expect.any(String) });
    expect(Object.entries(instrument?.notes[0] ?? {})).toEqual(
      ['pitch', 'start', 'end', 'velocity'].map((name) => [name, expect.any(Number)]),
    );
    expect(words.result.timed_lyrics).toEqual(
      expect.arrayContaining([
        {
          text: expect.any(String),
          start_s: expect.any(Number),
          end_s: expect.any(Number),
          success: true,
        },
      ]),
    );
  });

  it(
    'of a tune has one clip, or its one file (SONG-74, SONG-77, SONG-81, SONG-82, SONG-83, SONG-84)',
    async () => {
      const [stems, download, video] = await Promise.all([
        from('tune-music-stems'),
        from('tune-music-download', { format: 'wav' }),
        from('tune-music-video'),
      ]);
      for (const { result } of [tune, stems, download, video])
        expect(result.tracks).toHaveLength(1);
      expect(stems.result.tracks[0]).toEqual({
        index: 1,
        file_url: stems.result.urls[0],
        format: 'zip',
        mime_type: 'application/zip',
        size_bytes: expect.any(Number),
      });
      expect(download.result.tracks[0]).toEqual({
        index: 1,
        wav_url: download.result.urls[0],
        format: 'wav',
        mime_type: 'audio/wav',
        size_bytes: expect.any(Number),
      });
    },
    PATIENCE_MS,
  );
});

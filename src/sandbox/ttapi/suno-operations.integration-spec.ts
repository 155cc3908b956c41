import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AT_ONCE, type Music, TtapiClient } from '../../../test/support/ttapi-client.js';
import type { SandboxServer } from '../sandbox-server.js';

let server: SandboxServer;
let client: TtapiClient;
let song: Music;
beforeAll(async () => {
  ({ server, client } = await TtapiClient.start());
  song = await client.song();
});
afterAll(() => server.close());

const mv = 'chirp-hawk';
const written = { custom: true, instrumental: false, mv, prompt: `La la ${AT_ONCE}`, tags: 'folk' };
const url = (number: number) => `https://example.com/${number}.mp3?${AT_ONCE}`;
/** Operations without a text field get their magic inputs in the address of the callback. */
const quick = { hookUrl: `https://example.com/hook?${AT_ONCE}` };
const source = () => ({ ...quick, music_id: song.musicId });
const lengths = (musics: readonly Music[]) => musics.map(({ duration }) => Number(duration));

describe('operations that make tracks', () => {
  const rows: readonly (readonly [operation: string, body: () => object, seconds: number])[] = [
    ['music', () => ({ ...written, duration: 12 }), 12],
    ['inspo', () => ({ mv, audio_urls: [url(1)], prompt: 'La' }), 30],
    ['sounds', () => ({ mv, sound: `rain ${AT_ONCE}`, type: 'loop', bpm: 90, key: 'C#m' }), 8],
    ['extend', () => ({ ...written, ...source(), continue_at: 5, duration: 20 }), 20],
    ['cover', () => ({ ...written, ...source() }), 10],
    ['remaster', () => ({ mv, ...source(), variation_category: 'high' }), 10],
    [
      'replace-section',
      () => ({ mv, ...source(), infill_start_s: 2, infill_end_s: 8, infill_lyrics: 'New' }),
      10,
    ],
    ['sample', () => ({ ...written, ...source(), start_s: 1, end_s: 3 }), 32],
    ['add-vocals', () => ({ ...written, ...source() }), 10],
    ['add-instrumental', () => ({ ...written, ...source(), prompt: '' }), 10],
    ['add-stem', () => ({ mv, ...source(), stem_type: 'flute', start_s: 1, end_s: 3 }), 10],
  ];

  it.each(rows)('%s brings two tracks of the right length', async (operation, body, seconds) => {
    const musics = await client.musics(operation, body());
    expect(lengths(musics)).toEqual([seconds, seconds]);
    expect(new Set(musics.map(({ musicId }) => musicId)).size).toBe(2);
  });

  it('mashes up two tracks of one job', async () => {
    const [one, two] = await client.musics('music', { ...written, duration: 11 });
    const music_ids = [one?.musicId, two?.musicId];
    expect(lengths(await client.musics('mashup', { ...written, music_ids }))).toEqual([11, 11]);
  });
});

describe('operations on a track', () => {
  const crop = { crop_start_s: 2, crop_end_s: 5 };
  const rows: readonly (readonly [operation: string, body: object, lengths: number[]])[] = [
    ['crop', crop, [3]],
    ['remove-section', crop, [7]],
    ['fade-in', { fade_time_s: 2, title: 'In' }, [10]],
    ['fade-out', { fade_time_s: 2, title: 'Out' }, [10]],
    ['adjust-speed', { speed_multiplier: 2, keep_pitch: true, title: 'Fast' }, [5]],
    ['adjust-speed', { speed_multiplier: 0.5, keep_pitch: false, title: 'Slow' }, [20]],
    ['stems', { stem_type: 'drum_kit' }, [10, 10]],
    ['stems-all', {}, [10, 10, 10, 10, 10]],
  ];

  it.each(rows)('%s %j', async (operation, body, seconds) => {
    expect(lengths(await client.musics(operation, { ...source(), ...body }))).toEqual(seconds);
  });

  it('joins an extension with what came before it, and nothing else', async () => {
    const [rest] = await client.musics('extend', {
      ...written,
      ...source(),
      continue_at: 4,
      duration: 20,
    });
    const joined = await client.musics('concat', { ...quick, music_id: rest?.musicId });
    expect(lengths(joined)).toEqual([24]);
    await expect(client.musics('concat', source())).rejects.toThrow('extension');
  });

  it('names every stem', async () => {
    const all = await client.musics('stems-all', source());
    expect(all[0]?.title).toBe('A song (Vocals)');
    const stems = await client.musics('stems', source());
    expect(stems.map(({ title }) => title)).toEqual([
      'A song (Lead Vocal)',
      'A song (No Lead Vocal)',
    ]);
  });
});

describe('two-step operations', () => {
  it('upload a recording, then cover or extend it', async () => {
    const audio_url = 'https://example.com/a.mp3';
    const uploaded = await client.run('suno/v1/upload', { audio_url, is_async: false });
    expect(Object.keys(uploaded)).toEqual(['music_id']);
    const body = { ...written, ...uploaded };
    expect(lengths(await client.musics('cover', body))).toEqual([30, 30]);
    const extended = await client.musics('extend', { ...body, continue_at: 30, duration: 15 });
    expect(lengths(extended)).toEqual([15, 15]);
  });

  it('upload also as a job, and know their own recordings again', async () => {
    const audio_url = `${song.audioUrl}?${AT_ONCE}`;
    expect(lengths(await client.musics('upload', { audio_url }))).toEqual([10]);
  });

  it('find the singer, then keep her as a persona who sings', async () => {
    const range = { vocal_start_s: 1, vocal_end_s: 9 };
    const vox = await client.run('suno/v1/vox', { ...source(), ...range });
    const singer = await client.run('suno/v1/persona', {
      ...source(),
      ...vox,
      ...range,
      name: 'Ada',
    });
    expect(await client.musics('music', { ...written, ...singer })).toHaveLength(2);
    await expect(client.musics('music', { ...written, persona_id: 'nobody' })).rejects.toThrow(
      'persona_id',
    );
  });

  it('train a model, then make a song with it', async () => {
    const audio_urls = [1, 2, 3, 4, 5, 6].map(url);
    const made = await client.run('suno/v1/custom-model', { name: 'Mine', audio_urls });
    const { id } = made.custom_model as { id: string };
    expect(made.custom_model).toEqual({
      id: expect.stringMatching(/^chirp-custom:/),
      name: 'Mine',
    });
    expect(await client.musics('music', { ...written, mv: id })).toHaveLength(2);
    await expect(client.musics('music', { ...written, mv: 'chirp-custom:none' })).rejects.toThrow(
      'mv',
    );
  });
});

describe('operations that answer with something else', () => {
  it('writes lyrics', async () => {
    const { lyrics } = await client.run('suno/v1/lyrics', { prompt: `The sea ${AT_ONCE}` });
    expect(lyrics).toEqual(
      Array.from({ length: 2 }, () => ({
        title: 'The sea',
        text: expect.stringContaining('[Chorus]'),
        tags: expect.any(String),
      })),
    );
  });

  it('expands style tags at once', async () => {
    const { status, data } = await client.ask('suno/v1/upsample-tags', { tags: 'folk' });
    expect({ status, data }).toEqual({
      status: 'SUCCESS',
      data: { upsampled_tags: expect.stringMatching(/^folk, ./) },
    });
  });

  it('makes a voice of flat facts', async () => {
    const { voice } = await client.run('suno/v1/create-voice', { audio_url: url(1), name: 'Ada' });
    expect(voice).toMatchObject({ name: 'Ada', status: 'ready' });
    for (const value of Object.values(voice as object)) expect(typeof value).not.toBe('object');
  });

  it('renders a video, and exports files in the order asked for', async () => {
    const { videos } = await client.run('suno/v1/mp4', source());
    expect(videos).toEqual([expect.stringMatching(/\.mp4$/)]);
    const asked = { ...source(), formats: ['wav', 'mp3', 'm4a'] };
    const { files } = await client.run('suno/v1/download', asked);
    expect((files as { format: string }[]).map(({ format }) => format)).toEqual(asked.formats);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AT_ONCE,
  bytesOf,
  type FlowClip,
  TtapiClient,
} from '../../../test/support/ttapi-client.js';
import type { SandboxServer } from '../sandbox-server.js';

let server: SandboxServer;
let client: TtapiClient;
let song: FlowClip;
beforeAll(async () => {
  ({ server, client } = await TtapiClient.start());
  song = await client.clip('generations', {
    sound_prompt: `piano ${AT_ONCE}`,
    lyrics: 'One line\nAnother line',
    title: 'Two lines',
    model: 'Lyria 3 Pro',
    seed: '7',
    bpm: 90,
    length: 10,
  });
});
afterAll(() => server.close());

const quick = { hook_url: `https://example.com/hook?${AT_ONCE}` };
const source = () => ({ ...quick, clip_id: song.clip_id });
const instruction = 'More strings';

describe('operations that make a clip', () => {
  const rows: readonly (readonly [operation: string, body: () => object, seconds: number])[] = [
    ['generations', () => ({ ...quick, lyrics: 'La', length: 5 }), 5],
    ['extend', () => ({ ...source(), extend_from_s: 8, extend_s: 12, instruction }), 20],
    ['replace', () => ({ ...source(), start_s: 2, end_s: 4, instruction, seed: '1' }), 10],
    ['cover', () => ({ ...source(), instruction, strength: 0.5, title: 'Cover' }), 10],
    ['upload', () => ({ audio_url: `https://example.com/a.mp3?${AT_ONCE}`, title: 'Mine' }), 30],
  ];

  it.each(rows)('%s brings one clip of the right length', async (operation, body, seconds) => {
    expect((await client.clip(operation, body())).duration).toBe(seconds);
  });

  it('tells when every line is sung', () => {
    const markers = song.lyrics_timing_markers;
    expect(markers.map(({ text }) => text)).toEqual(['One line', 'Another line']);
    expect(markers[0]?.start_s).toBe(0);
    expect(markers[1]?.start_s).toBeGreaterThan(3);
    expect(markers[1]?.end_s).toBeLessThanOrEqual(10);
  });

  it('sings nothing in an instrumental', async () => {
    const body = { ...quick, sound_prompt: 'Instrumental. Piano' };
    expect((await client.clip('generations', body)).lyrics_timing_markers).toEqual([]);
  });
});

describe('operations that make something else', () => {
  it('writes lyrics', async () => {
    const made = await client.run('flowmusic/v1/lyrics', { prompt: `The sea ${AT_ONCE}` });
    expect(made).toMatchObject({ title: 'The sea', lyrics: expect.stringContaining('[Verse]') });
  });

  it('packs stems, and tells the size', async () => {
    const made = await client.run('flowmusic/v1/stems', source());
    const archive = await bytesOf(String(made.file_url));
    expect(made.size_bytes).toBe(archive.length);
  });

  it.each(['mp3', 'wav'])('exports %s, and tells the size', async (format) => {
    const made = await client.run('flowmusic/v1/download', { ...source(), format });
    const [file] = made.files as { format: string; url: string }[];
    expect(file?.format).toBe(format);
    expect((await bytesOf(file?.url ?? '')).length).toBe(made.size_bytes);
  });

  it('renders a video', async () => {
    const { videos } = await client.run('flowmusic/v1/video', { ...source(), preset: 'player' });
    expect(videos).toEqual([expect.stringMatching(/\.mp4$/)]);
  });

  it('knows only clips of its own family', async () => {
    const { musicId } = await client.song();
    const body = { ...source(), clip_id: musicId };
    await expect(client.run('flowmusic/v1/stems', body)).rejects.toThrow('clip_id');
  });
});

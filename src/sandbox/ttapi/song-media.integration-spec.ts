import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath, startBrowser } from '../../../test/support/browser.js';
import { decodeSamples, probeTracks } from '../../../test/support/media-probe.js';
import { systemProgram } from '../../../test/support/system-program.js';
import { AT_ONCE, bytesOf, type Music, TtapiClient } from '../../../test/support/ttapi-client.js';
import { measureBytes } from '../../media/duration/media-duration.js';
import { hearAudio } from '../media/audio-files/heard-audio.js';
import type { SandboxServer } from '../sandbox-server.js';

const RATE = 8000;
/** MP3 changes samples a little: at most by this part of the loudest sample. */
const LOSS = 0.15;
const unzip = systemProgram('unzip');

let server: SandboxServer;
let client: TtapiClient;
let song: Music;
beforeAll(async () => {
  ({ server, client } = await TtapiClient.start());
  song = await client.song();
});
afterAll(() => server.close());

const source = () => ({
  music_id: song.musicId,
  hookUrl: `https://example.com/hook?${AT_ONCE}`,
});
const seconds = (file: Buffer): number => Number(measureBytes(file).durationMicros) / 1e6;
const loudest = (samples: Float32Array): number =>
  samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);

async function download(format: string): Promise<Buffer> {
  const made = await client.run('suno/v1/download', { ...source(), formats: [format] });
  return bytesOf((made.files as { url: string }[])[0]?.url ?? '');
}

describe('a track', () => {
  it('plays as long as it says', async () => {
    const file = await bytesOf(song.audioUrl);
    expect(Math.abs(seconds(file) - Number(song.duration))).toBeLessThan(0.1);
    const samples = decodeSamples(file, RATE);
    if (samples) expect(loudest(samples)).toBeGreaterThan(0.1);
  });

  it('says its words to whoever transcribes it', async () => {
    const heard = await hearAudio(await bytesOf(song.audioUrl));
    expect(heard?.comment).toContain('Boats on the quiet water');
  });

  it('has a cover of its own', async () => {
    const cover = await bytesOf(song.imageUrl);
    expect(cover.subarray(1, 4).toString()).toBe('PNG');
    expect([cover.readUInt32BE(16), cover.readUInt32BE(20)]).toEqual([512, 512]);
    expect(probeTracks(cover)?.[0]?.codec_name ?? 'png').toBe('png');
  });

  it('has no video before one is rendered', async () => {
    expect((await fetch(song.videoUrl)).status).toBe(404);
  });

  it('is fetched in ranges', async () => {
    const whole = await bytesOf(song.audioUrl);
    const part = await fetch(song.audioUrl, { headers: { range: 'bytes=100-199' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(100, 200));
  });

  it.each([
    ['mp3', 'mp3', 'mp3'],
    ['wav', 'wav', 'pcm_s16le'],
    ['m4a', 'mp4', 'mp3'],
  ])('is exported as %s', async (format, container, codec) => {
    const file = await download(format);
    expect(measureBytes(file).format).toBe(container);
    expect(Math.abs(seconds(file) - 10)).toBeLessThan(0.1);
    expect(probeTracks(file)?.map((track) => track.codec_name) ?? [codec]).toEqual([codec]);
  });
});

describe('stems', () => {
  it('add up to the song', async () => {
    const stems = await client.musics('stems-all', source());
    const whole = decodeSamples(await bytesOf(song.audioUrl), RATE);
    if (whole === undefined) return;
    const sum = new Float32Array(whole.length);
    for (const { audioUrl } of stems) {
      const samples = decodeSamples(await bytesOf(audioUrl), RATE);
      samples?.forEach((sample, index) => (sum[index] = (sum[index] ?? 0) + sample));
    }
    const difference = whole.map((sample, index) => sample - (sum[index] ?? 0));
    const power = (samples: Float32Array) =>
      samples.reduce((total, sample) => total + sample * sample, 0);
    expect(power(difference) / power(whole)).toBeLessThan(LOSS * LOSS);
  });

  it('come as a ZIP that opens', async () => {
    const { clip_id } = await client.clip('generations', { lyrics: `La ${AT_ONCE}`, length: 4 });
    const hook_url = `https://example.com/hook?${AT_ONCE}`;
    const made = await client.run('flowmusic/v1/stems', { clip_id, hook_url });
    const archive = await bytesOf(String(made.file_url));
    expect(archive.subarray(0, 4)).toEqual(Buffer.from('PK\x03\x04'));
    expect(archive.includes('vocals.mp3') && archive.includes('instrumental.mp3')).toBe(true);
    if (unzip === undefined) return;
    const folder = mkdtempSync(join(tmpdir(), 'shim-zip-'));
    try {
      writeFileSync(join(folder, 'stems.zip'), archive);
      const told = execFileSync(unzip, ['-t', join(folder, 'stems.zip')]).toString();
      expect(told).toContain('No errors detected');
      const vocals = execFileSync(unzip, ['-p', join(folder, 'stems.zip'), 'vocals.mp3']);
      expect(Math.abs(seconds(vocals) - 4)).toBeLessThan(0.1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('analyses', () => {
  it('time every word within the song, in order', async () => {
    const { alignment } = await client.run('suno/v1/alignedLyrics', source());
    const words = alignment as { word: string; start_s: number; end_s: number }[];
    expect(words.map(({ word }) => word).join(' ')).toBe(
      'Boats on the quiet water Lights along the shore',
    );
    let last = 0;
    for (const { start_s, end_s } of words) {
      expect(start_s).toBeGreaterThanOrEqual(last);
      expect(end_s).toBeGreaterThan(start_s);
      last = start_s;
    }
    expect(words.at(-1)?.end_s).toBeCloseTo(10, 1);
  });

  it('time the words of what was done to a song', async () => {
    const [half] = await client.musics('crop', { ...source(), crop_start_s: 5, crop_end_s: 10 });
    const body = { music_id: half?.musicId };
    const { alignment } = await client.run('suno/v1/alignedLyrics', body);
    const words = alignment as { word: string; end_s: number }[];
    expect(words.map(({ word }) => word)).not.toContain('Boats');
    expect(words.at(-1)?.end_s).toBeCloseTo(5, 1);
  });

  it('find no words in instrumental music', async () => {
    const stems = await client.musics('stems', { ...source(), stem_type: 'bass' });
    const { alignment } = await client.run('suno/v1/alignedLyrics', {
      music_id: stems[0]?.musicId,
    });
    expect(alignment).toEqual([]);
  });

  it('write down the notes, as fast as the tempo says', async () => {
    const { state, instruments } = await client.run('suno/v1/gen-midi', source());
    expect(state).toBe('complete');
    const band = instruments as { name: string; notes: { pitch: number; end: number }[] }[];
    expect(band.map(({ name }) => name)).toEqual(['Drums', 'Bass', 'Lead', 'Pad']);
    for (const { pitch, end } of band.flatMap(({ notes }) => notes)) {
      expect(Number.isInteger(pitch) && pitch >= 0 && pitch <= 127).toBe(true);
      expect(end).toBeLessThanOrEqual(10);
    }
    const { bpm } = await client.run('suno/v1/bpm', source());
    const { average } = bpm as { average: number };
    const hats = (band[0]?.notes ?? []).filter(({ pitch }) => pitch === 42).length;
    expect(Math.abs(hats - (10 / 60) * average * 2)).toBeLessThanOrEqual(1);
  });
});

describe('a music video', () => {
  it('shows the song for its whole length, in a browser too', async () => {
    const { videos } = await client.run('suno/v1/mp4', source());
    const [url = ''] = videos as string[];
    const file = await bytesOf(url);
    expect(Math.abs(seconds(file) - 10)).toBeLessThan(0.2);
    const codecs = probeTracks(file)?.map((track) => track.codec_name) ?? ['h264', 'mp3'];
    expect(codecs.sort()).toEqual(['h264', 'mp3']);
    if (chromiumPath === undefined) return;
    const browser = await startBrowser();
    try {
      const page = await browser.context.newPage();
      await page.goto(url);
      await page.waitForFunction(
        "(() => { const v = document.querySelector('video'); v.muted = true; void v.play(); return v.currentTime > 0.3 && v.videoWidth === 640; })()",
      );
      const length = await page.evaluate("document.querySelector('video').duration");
      expect(Math.abs(Number(length) - 10)).toBeLessThan(0.2);
    } finally {
      await browser.close();
    }
  }, 60_000);
});

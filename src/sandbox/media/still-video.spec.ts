import { describe, expect, it } from '@jest/globals';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { probeTracks } from '../../../test/support/media-probe.js';
import { encodeSound } from './audio-encoder.js';
import { StillFrames } from './h264-still.js';
import { musicSound } from './music-sound.js';
import { promptPicture } from './prompt-picture.js';
import { stillVideo } from './still-video.js';

const SECONDS = 3;

async function song(): Promise<Buffer> {
  const format = { codec: 'mp3', sampleRate: 44_100, kbps: 64 } as const;
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeSound(musicSound('a', SECONDS), format, '')) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('a video of one picture', () => {
  it('shows it as long as the sound lasts, in frames that decode', async () => {
    const file = await stillVideo(promptPicture('The sea', 160, 96), await song());
    const input = new Input({ source: new BufferSource(file), formats: ALL_FORMATS });
    expect(Math.abs((await input.computeDuration()) - SECONDS)).toBeLessThan(0.3);
    const tracks = probeTracks(file);
    if (tracks === undefined) return;
    const video = tracks.find((track) => track.codec_type === 'video');
    expect(video).toMatchObject({ codec_name: 'h264', width: 160, height: 96 });
    const wanted = SECONDS * 4;
    expect(Math.abs(Number(video?.nb_read_frames) - wanted)).toBeLessThanOrEqual(1);
    expect(tracks.find((track) => track.codec_type === 'audio')?.codec_name).toBe('mp3');
  });

  it('has sides of whole macroblocks', () => {
    expect(() => new StillFrames(promptPicture('a', 100, 96))).toThrow(RangeError);
  });
});

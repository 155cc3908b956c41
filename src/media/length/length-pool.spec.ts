import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { wavFile } from '../../../test/media/wav-file.js';
import { LENGTH_LIMITS, LengthPool, measureMediaLength } from './length-pool.js';

describe('measureMediaLength', () => {
  let folder = '';
  let wav = '';
  let text = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'media-length-'));
    wav = join(folder, 'tone.mp3');
    text = join(folder, 'text.wav');
    await writeFile(wav, wavFile(98_720));
    await writeFile(text, 'no media');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('measures in a thread and goes by content, not by name (AUD-20)', async () => {
    await expect(measureMediaLength(wav)).resolves.toEqual({
      format: 'wav',
      lengthMicros: 12_340_000n,
      hasVideo: false,
    });
  });

  it('refuses what is no media with unsupported_audio_format (AUD-19)', async () => {
    await expect(measureMediaLength(text)).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'unsupported_audio_format',
    });
  });

  it('refuses a file that outlives the deadline, then measures the next one', async () => {
    const hasty = new LengthPool(1);
    await expect(hasty.measure(wav)).rejects.toMatchObject({ code: 'unsupported_audio_format' });
    await expect(measureMediaLength(wav)).resolves.toMatchObject({ format: 'wav' });
  });

  it('fails as a fault of ours when the file is not there', async () => {
    const missing = measureMediaLength(join(folder, 'missing'));
    await expect(missing).rejects.toThrow('Measuring a media file failed.');
    await expect(missing).rejects.not.toMatchObject({ name: 'GatewayError' });
  });

  it('measures many files at once and refuses more than may wait', async () => {
    const pool = new LengthPool();
    const places = LENGTH_LIMITS.workers + LENGTH_LIMITS.waiting;
    const accepted = Array.from({ length: places }, () => pool.measure(text));
    await expect(pool.measure(wav)).rejects.toMatchObject({ code: 'service_unavailable' });
    const answers = await Promise.allSettled(accepted);
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
    await expect(pool.measure(wav)).resolves.toMatchObject({ format: 'wav' });
  });
});

import { afterAll, describe, expect, it } from '@jest/globals';

import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { billableSeconds } from '../../src/common/time/billable-seconds.js';
import { measureBytes } from '../../src/media/duration/media-duration.js';
import { hasDecoder, playedSeconds } from './decode-oracle.js';
import { HOSTILE_CONTAINERS } from './hostile-containers.js';
import { HOSTILE_FRAMES } from './hostile-frames.js';
import { HOSTILE_OGG } from './hostile-ogg.js';
import { HOSTILE_PCM } from './hostile-pcm.js';

const CASES = [...HOSTILE_PCM, ...HOSTILE_FRAMES, ...HOSTILE_OGG, ...HOSTILE_CONTAINERS];
const isDecoderHere = hasDecoder();

function billed(media: Buffer): number | 'refused' {
  try {
    return Number(billableSeconds(measureBytes(media).durationMicros));
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'unsupported_audio_format')
      return 'refused';
    throw error;
  }
}

describe('hostile media', () => {
  afterAll(() => {
    if (!isDecoderHere)
      process.stderr.write('NOT RUN: no ffmpeg here, nothing was held against a full decode\n');
  });

  it.each(CASES)('$name bills $billed', async ({ make, billed: expected }) => {
    const media = await make();
    const seconds = billed(media);
    expect(seconds).toBe(expected);
    if (seconds === 'refused' || !isDecoderHere) return;
    expect(seconds).toBeGreaterThanOrEqual((await playedSeconds(media)) - 1);
  });
});

import { describe, expect, it } from '@jest/globals';

import { aiffFile } from './aiff-file.js';
import { sample } from './byte-edits.js';
import { hasDecoder, playedSeconds } from './decode-oracle.js';
import { flacFile } from './flac-file.js';
import { measuredSeconds, mutated, repeatableRandom } from './fuzz.js';
import { wavFile } from './wav-file.js';

/** `FUZZ_ROUNDS=100000 npm run jest -- test/media/fuzz` runs longer, `FUZZ_SEED` elsewhere; `FUZZ_DECODED` files are decoded. */
const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 3_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const DECODED = hasDecoder() ? Number(process.env.FUZZ_DECODED ?? 20) : 0;
/** A file that is read for ever takes longer, a busy machine does not. */
const ROUND_MS_MAX = 300_000;
const SUITE_MS_MAX = 3_600_000;

const SAMPLES = [
  ...['tone.aac', 'tone.m4a', 'tone.mov', 'tone.mp4', 'fragmented.mp4', 'opus.mp4', 'alac-4s.m4a'],
  ...['pcm-2s.mov', 'tone.flac', 'flac.ogg', 'opus.ogg', 'tone.ogg', 'tone.webm', 'vorbis.webm'],
  ...['tone.mp3', 'adpcm.wav'],
];

describe('damaged media', () => {
  it(
    'is measured or refused, never anything else',
    async () => {
      const seeds = [...SAMPLES.map(sample), wavFile(16_000), aiffFile(16_000), flacFile(98_720)];
      const random = repeatableRandom(SEED);
      const accepted: Buffer[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const pick = (): Buffer => seeds[random(seeds.length)] ?? Buffer.alloc(0);
        const media = mutated(pick(), pick(), random);
        const begin = performance.now();
        const seconds = measuredSeconds(media);
        expect(performance.now() - begin).toBeLessThan(ROUND_MS_MAX);
        if (seconds !== undefined && accepted.length < DECODED) accepted.push(media);
      }
      for (const media of accepted) {
        expect(measuredSeconds(media)).toBeGreaterThanOrEqual((await playedSeconds(media)) - 1);
      }
      if (DECODED === 0)
        process.stderr.write('NOT RUN: no ffmpeg here, no damaged file was decoded\n');
    },
    SUITE_MS_MAX,
  );
});

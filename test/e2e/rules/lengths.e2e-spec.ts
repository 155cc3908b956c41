import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aiffFile } from '../../media/aiff-file.js';
import { edited, sample } from '../../media/byte-edits.js';
import { wavFile } from '../../media/wav-file.js';
import { AudioHarness } from '../../support/audio-harness.js';
import {
  ALIGNMENT,
  ISOLATION,
  RECORDING_OPERATIONS,
  TRANSCRIPTION,
  VOICE_CHANGER,
} from '../../support/audio-operations.js';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

/** Silence of exactly this many microseconds, in as few bytes as possible. */
function silence(seconds: number): Buffer {
  const rateHz = Number.isInteger(Math.round(seconds * 1e6) / 1000) ? 1_000 : 100_000;
  return wavFile(Math.round(seconds * rateHz), rateHz, 8);
}

/** Its movie header says one second. */
function withShortMovieHeader(mp4: Buffer): Buffer {
  return edited(mp4, (copy) => {
    const at = copy.indexOf('mvhd', 0, 'latin1');
    copy.writeUInt32BE(copy.readUInt32BE(at + 16), at + 20);
  });
}

const perSecond = (operation: (typeof RECORDING_OPERATIONS)[number]) => operation.price / 10n;

describe('a recording of 12.34 s', () => {
  it.each([
    ['WAV', 'AUD-09', () => silence(12.34)],
    ['AIFF', 'AUD-10', () => aiffFile(98_720)],
    ['MP3', 'AUD-11', () => sample('tone.mp3')],
    ['AAC', 'AUD-12', () => sample('tone.aac')],
    ['MP4', 'AUD-13', () => sample('tone.mp4')],
    ['M4A', 'AUD-14', () => sample('tone.m4a')],
    ['MOV', 'AUD-15', () => sample('tone.mov')],
    ['FLAC', 'AUD-16', () => sample('tone.flac')],
    ['Ogg Vorbis', 'AUD-17', () => sample('tone.ogg')],
    ['Ogg Opus', 'AUD-17', () => sample('opus.ogg')],
    ['WebM', 'AUD-18', () => sample('tone.webm')],
  ])('as %s bills 13 s everywhere, uploaded or downloaded (%s)', async (_what, _row, make) => {
    const file = make();
    harness.serve(file);
    for (const operation of RECORDING_OPERATIONS) {
      const price = 13n * perSecond(operation);
      const upload = await harness.charges(operation, () => harness.call(operation, {}, file));
      const download = await harness.charges(operation, () => harness.postJson(operation));
      expect([upload.charged, download.charged]).toEqual([price, price]);
    }
  });
});

describe('the length of a recording', () => {
  it.each([
    [12.34, 13n, 'AUD-23'],
    [61.2, 62n, 'AUD-24'],
    [12, 12n, 'AUD-25'],
    [12.05, 12n, 'AUD-26'],
    [12.1, 12n, 'AUD-27'],
    [12.10001, 13n, 'AUD-28'],
    [12.11, 13n, 'AUD-29'],
    [12.99, 13n, 'AUD-30'],
    [0.05, 1n, 'AUD-31, STT-27, ALIGN-27, VC-27'],
    [0.1, 1n, 'AUD-32'],
    [0.5, 1n, 'AUD-33, STT-27, ALIGN-27, VC-27'],
    [1, 1n, 'AUD-34'],
    [1.1, 1n, 'AUD-35, STT-27, ALIGN-27, VC-27'],
    [1.10001, 2n, 'AUD-36'],
    [1.2, 2n, 'STT-27, ALIGN-27, VC-27'],
    [2.1, 2n, 'AUD-37'],
    [16.1, 16n, 'AUD-38'],
    [600, 600n, 'AUD-39, STT-31, ALIGN-30'],
    [1800, 1800n, 'AUD-40'],
  ])('of %d s bills %d s wherever it is taken (%s, G-18)', async (seconds, billed, _rows) => {
    const file = silence(seconds);
    for (const operation of RECORDING_OPERATIONS) {
      if (operation === VOICE_CHANGER && seconds > 300) continue;
      if (operation === ISOLATION && seconds < 4.6) continue;
      const { charged } = await harness.charges(operation, () => harness.call(operation, {}, file));
      expect(charged).toBe(billed * perSecond(operation));
    }
  });

  it.each([
    [533_610, 12n],
    [533_611, 13n],
  ])('of %d samples at 44.1 kHz bills %d s (AUD-41)', async (samples, billed) => {
    const file = wavFile(samples, 44_100, 8);
    const { charged } = await harness.charges(TRANSCRIPTION, () =>
      harness.call(TRANSCRIPTION, {}, file),
    );
    expect(charged).toBe(billed * 92n);
  });

  it.each([
    ['a WAV', 920n, edited(wavFile(80_000), (copy) => copy.writeUInt32LE(16_000, 40))],
    ['an MP4', 1_196n, withShortMovieHeader(sample('tone.m4a'))],
  ])('is not believed where %s declares 1 s: %d micro-USD (AUD-21)', async (_what, price, file) => {
    const { charged } = await harness.charges(TRANSCRIPTION, () =>
      harness.call(TRANSCRIPTION, {}, file),
    );
    expect(charged).toBe(price);
  });

  it.each([
    ['STT-24, STT-25, STT-26', 7_200, TRANSCRIPTION],
    ['ALIGN-24, ALIGN-25, ALIGN-26', 3_600, ALIGNMENT],
    ['VC-24, VC-25, VC-26', 300, VOICE_CHANGER],
    ['ISO-24, ISO-25, ISO-26', 3_600, ISOLATION],
  ])('has a maximum, padding aside (%s, LIMIT-05, G-19)', async (_rows, max, operation) => {
    const price = BigInt(max) * perSecond(operation);
    for (const seconds of [max, max + 0.05, max + 0.1]) {
      const { charged } = await harness.charges(operation, () =>
        harness.call(operation, {}, silence(seconds)),
      );
      expect(charged).toBe(price);
    }
    for (const seconds of [max + 1, max + 0.2]) {
      const send = () => harness.call(operation, {}, silence(seconds));
      await harness.refused(send, 400, 'audio_too_long', 'file');
    }
  });
});

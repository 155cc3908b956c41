import { describe, expect, it } from '@jest/globals';
import { riffChunk, wavFormat, wavOf } from '../../../test/media/wav-file.js';
import { monoOfWav } from './mono-of-wav.js';

const RATE_HZ = 24_000;
const FRAMES = 1_000;
const stereo = Buffer.alloc(4 * FRAMES);
const mean = Buffer.alloc(2 * FRAMES);
for (let at = 0; at < FRAMES; at += 1) {
  stereo.writeInt16LE(30 * at, 4 * at);
  stereo.writeInt16LE(-10 * at, 4 * at + 2);
  mean.writeInt16LE(10 * at, 2 * at);
}
const two = wavFormat({ channels: 2, rateHz: RATE_HZ });
const one = wavFormat({ channels: 1, rateHz: RATE_HZ });

async function* inPieces(file: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes);
  await Promise.resolve();
}
async function monoOf(file: Buffer, pieceBytes = file.length): Promise<Buffer | undefined> {
  const pieces = await monoOfWav(inPieces(file, pieceBytes), RATE_HZ);
  return pieces && Buffer.concat(pieces);
}

describe('the samples of a WAV as one channel', () => {
  const whole = wavOf([riffChunk('LIST', Buffer.from('odd')), two, riffChunk('data', stereo)]);

  it.each([1, 3, 4, 7, 1_000, 100_000])('are the mean in pieces of %d bytes', async (bytes) => {
    expect(await monoOf(whole, bytes)).toEqual(mean);
  });

  it('are those of a single channel as they are', async () => {
    expect(await monoOf(wavOf([one, riffChunk('data', mean)]), 101)).toEqual(mean);
  });

  it.each([0, 0xffffffff, 0x7fff0000])('go to the end where their size is %d', async (size) => {
    expect(await monoOf(wavOf([two, riffChunk('data', stereo, size)]), 333)).toEqual(mean);
  });

  it('end where their size says, before other chunks', async () => {
    const file = wavOf([two, riffChunk('data', stereo), riffChunk('LIST', Buffer.alloc(5_000, 1))]);
    expect(await monoOf(file, 333)).toEqual(mean);
  });

  it('have no half of a sample at their end', async () => {
    const cut = whole.subarray(0, whole.length - 3);
    expect(await monoOf(cut, 333)).toEqual(mean.subarray(0, -2));
  });

  it.each<[string, Buffer]>([
    ['another file', Buffer.alloc(100, 0xff)],
    ['another form of numbers', wavOf([wavFormat({ code: 3, rateHz: RATE_HZ, bits: 32 })])],
    ['more channels', wavOf([wavFormat({ channels: 6, rateHz: RATE_HZ })])],
    ['another rate', wavOf([wavFormat({ rateHz: 8_000 }), riffChunk('data', mean)])],
    ['samples before their form', wavOf([riffChunk('data', mean), one])],
    ['no samples', wavOf([one])],
    ['an empty chunk of samples', wavOf([one, riffChunk('data', Buffer.of())])],
    ['an endless head', wavOf([one, riffChunk('LIST', Buffer.alloc(100_000))])],
    ['nothing', Buffer.of()],
  ])('are not there in %s', async (_what, file) => {
    expect(await monoOf(file, 4_096)).toBeUndefined();
  });
});

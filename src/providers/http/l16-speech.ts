import { Readable } from 'node:stream';
import type { SoundFormat } from '../../common/audio/sound-writer.js';
import { wavHead } from '../../common/audio/wav-writer.js';
import { encodeAudio } from '../../platform/audio/audio-encoding.js';
import type { AudioFormat } from '../ports/audio.port.js';

/** Raw speech as the vendor sends it: signed 16-bit little-endian samples of one channel. */
export interface L16Speech {
  readonly samples: Buffer;
  readonly sampleRate: number;
}

/** The rate that callers are promised for PCM, and the only one that Opus takes of those that the vendor may send. */
export const SPEECH_HZ = 24_000;
const MP3: SoundFormat = { codec: 'mp3', sampleRate: 44_100, kbps: 128 };
const OPUS: SoundFormat = { codec: 'opus', sampleRate: SPEECH_HZ, kbps: 128 };
/** The body of a response is given out in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

/** The speech in the format that the caller wants. `accountId` is whose encoding it is; null: nobody's. */
export async function speechBody(
  { samples, sampleRate }: L16Speech,
  format: AudioFormat,
  accountId: string | null,
): Promise<Readable> {
  if (format === 'pcm') return bodyOf(samples);
  if (format === 'wav') return bodyOf(wavHead(sampleRate, samples.length), samples);
  const file = await encodeAudio(accountId ?? '', {
    samples,
    sampleRate,
    format: format === 'mp3' ? MP3 : OPUS,
  });
  return bodyOf(file);
}

function bodyOf(...buffers: readonly Buffer[]): Readable {
  // The code that reads the body gets an error. Nothing fails before it reads.
  return Readable.from(piecesOf(buffers), { objectMode: false }).on('error', () => undefined);
}

function* piecesOf(buffers: readonly Buffer[]): Generator<Buffer> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; at += PIECE_BYTES) {
      yield buffer.subarray(at, at + PIECE_BYTES);
    }
  }
}

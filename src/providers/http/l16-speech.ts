import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { SoundFormat } from '../../common/audio/sound-writer.js';
import { wavHead } from '../../common/audio/wav-writer.js';
import {
  type EncodingRoom,
  NoEncodingRoom,
  roomToEncode,
} from '../../platform/audio/audio-encoding.js';
import { type AttemptContext, NO_ROOM } from '../ports/attempt.js';
import type { AudioFormat } from '../ports/audio.port.js';
import type { ProviderHttp } from './provider-http.js';

/** Raw speech as the vendor sends it: signed 16-bit little-endian samples of one channel. */
export interface L16Speech {
  readonly samples: Buffer;
  readonly sampleRate: number;
}

/** The rate that callers are promised for PCM, and the only one that Opus takes of those that the vendor may send. */
export const SPEECH_HZ = 24_000;
const ENCODED: Partial<Readonly<Record<AudioFormat, SoundFormat>>> = {
  mp3: { codec: 'mp3', sampleRate: 44_100, kbps: 128 },
  opus: { codec: 'opus', sampleRate: SPEECH_HZ, kbps: 128 },
};
/** The body of a response is given out in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

/**
 * Room to encode the speech that is about to be asked for, of the account whose it is; undefined for a format that is not encoded.
 * Throws ProviderError of kind `unavailable`, before anything is sent.
 */
export function roomFor(
  format: AudioFormat,
  { owner }: Pick<AttemptContext, 'owner'>,
  http: Pick<ProviderHttp, 'refusal'>,
): EncodingRoom | undefined {
  try {
    return ENCODED[format] && roomToEncode(owner?.accountId ?? '');
  } catch (error) {
    throw error instanceof NoEncodingRoom ? http.refusal(NO_ROOM, 'unavailable') : error;
  }
}

/** The speech in the format that the caller wants. `room` is that of {@link roomFor} this format. */
export async function speechBody(
  { samples, sampleRate }: L16Speech,
  format: AudioFormat,
  room: EncodingRoom | undefined,
): Promise<Readable> {
  const encoding = ENCODED[format];
  if (encoding) {
    assert(room, 'speech is encoded without room');
    return bodyOf(await room.encode({ samples, sampleRate, format: encoding }));
  }
  return format === 'wav' ? bodyOf(wavHead(sampleRate, samples.length), samples) : bodyOf(samples);
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

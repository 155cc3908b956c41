import { durationMicros } from '../sample-counter.js';
import { checkTimeline, type TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { afterChunk, audioBytes, type Chunk, readChunk } from './riff-chunk.js';

const FORM_HEADER_BYTES = 12;
const EXPONENT_BIAS = 16_383 + 63;
const CHANNELS_MAX = 64;
/** Bytes per sample of the AIFF-C codings with plain samples. Others use the declared bits. */
const CODING_BYTES = new Map([
  ['alaw', 1],
  ['ALAW', 1],
  ['ulaw', 1],
  ['ULAW', 1],
  ['in24', 3],
  ['in32', 4],
  ['fl32', 4],
  ['FL32', 4],
  ['fl64', 8],
  ['FL64', 8],
]);
const CODINGS_BY_BITS = new Set(['NONE', 'sowt', 'twos', 'raw ']);

interface AiffFormat {
  readonly declaredFrames: number;
  readonly rateHz: number;
  readonly frameBytes: number;
}

/**
 * Duration of an AIFF or AIFF-C file from the bytes of its sound chunk. A file whose declared frame count differs is
 * rejected.
 */
export function aiffDuration(bytes: Buffer): TrackDurations {
  const isCompressed = bytes.toString('latin1', 8, 12) === 'AIFC';
  let format: AiffFormat | undefined;
  let sound: Chunk | undefined;
  for (let chunk = readChunk(bytes, FORM_HEADER_BYTES, 'BE'); chunk !== undefined;) {
    if (chunk.id === 'COMM') {
      if (format !== undefined) throw unsupportedMedia('it has two format chunks');
      format = readFormat(bytes, chunk, isCompressed);
    }
    if (chunk.id === 'SSND') sound ??= chunk;
    chunk = readChunk(bytes, afterChunk(chunk), 'BE');
  }
  if (format === undefined || sound === undefined) throw unsupportedMedia('it has no sound');
  const offset = 8 + bytes.readUInt32BE(sound.at);
  const size = Math.max(audioBytes(bytes, sound, 'BE') - offset, 0);
  const audioMicros = durationMicros(Math.floor(size / format.frameBytes), format.rateHz);
  if (format.declaredFrames > 0) {
    checkTimeline(audioMicros, durationMicros(format.declaredFrames, format.rateHz));
  }
  return { audioMicros };
}

function readFormat(bytes: Buffer, chunk: Chunk, isCompressed: boolean): AiffFormat {
  const { at } = chunk;
  const channels = bytes.readUInt16BE(at);
  const bits = bytes.readUInt16BE(at + 6);
  const coding = isCompressed ? bytes.toString('latin1', at + 18, at + 22) : 'NONE';
  const sampleBytes = CODINGS_BY_BITS.has(coding) ? Math.ceil(bits / 8) : CODING_BYTES.get(coding);
  if (channels === 0 || channels > CHANNELS_MAX || bits > 64 || !sampleBytes) {
    throw unsupportedMedia('its sample format is wrong or not supported');
  }
  // The rate is an 80-bit float: 16 bits for sign and exponent, then a 64-bit mantissa.
  const mantissa = Number(bytes.readBigUInt64BE(at + 10));
  const rateHz = Math.round(mantissa * 2 ** (bytes.readUInt16BE(at + 8) - EXPONENT_BIAS));
  return { declaredFrames: bytes.readUInt32BE(at + 2), rateHz, frameBytes: channels * sampleBytes };
}

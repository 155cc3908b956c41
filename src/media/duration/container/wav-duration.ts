import { durationMicros } from '../sample-counter.js';
import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { afterChunk, audioBytes, type Chunk, readChunk } from './riff-chunk.js';

const RIFF_HEADER_BYTES = 12;
const UNKNOWN_SIZE = 0xffffffff;
const CHANNELS_MAX = 64;
const FORMAT_BYTES_MIN = 16;
const EXTENSIBLE = 0xfffe;
/** Bits per sample that each format code may have (WAVE_FORMAT_*): PCM, float, A-law, µ-law. */
const PCM_BITS = new Map([
  [0x01, [8, 12, 16, 20, 24, 32]],
  [0x03, [32, 64]],
  [0x06, [8]],
  [0x07, [8]],
]);
const ADPCM_MICROSOFT = 0x02;
const ADPCM_IMA = 0x11;

interface WavFormat {
  readonly rateHz: number;
  readonly blockBytes: number;
  readonly samplesPerBlock: number;
}

/** Duration of a WAV (RIFF, RF64) from the bytes of its data chunk. Sizes that other chunks declare are ignored. */
export function wavDuration(bytes: Buffer): TrackDurations {
  let format: WavFormat | undefined;
  let wideSize: number | undefined;
  for (let chunk = readChunk(bytes, RIFF_HEADER_BYTES, 'LE'); chunk !== undefined;) {
    if (chunk.id === 'ds64') wideSize = Number(bytes.readBigUInt64LE(chunk.at + 8));
    if (chunk.id === 'fmt ') {
      if (format !== undefined) throw unsupportedMedia('it has two format chunks');
      format = readFormat(bytes, chunk);
    }
    if (chunk.id === 'data') {
      if (format === undefined) throw unsupportedMedia('it has no format chunk');
      const size = chunk.size === UNKNOWN_SIZE ? (wideSize ?? chunk.size) : chunk.size;
      const blocks = audioBytes(bytes, { ...chunk, size }, 'LE') / format.blockBytes;
      // A decoder plays an incomplete last block of compressed samples, but not an incomplete sample.
      const whole = format.samplesPerBlock > 1 ? Math.ceil(blocks) : Math.floor(blocks);
      return { audioMicros: durationMicros(whole * format.samplesPerBlock, format.rateHz) };
    }
    chunk = readChunk(bytes, afterChunk(chunk), 'LE');
  }
  throw unsupportedMedia('it has no data chunk');
}

function readFormat(bytes: Buffer, chunk: Chunk): WavFormat {
  if (chunk.size < FORMAT_BYTES_MIN) throw unsupportedMedia('its format chunk is broken');
  const { at } = chunk;
  const tag = bytes.readUInt16LE(at);
  const code = tag === EXTENSIBLE && chunk.size >= 40 ? bytes.readUInt16LE(at + 24) : tag;
  const channels = bytes.readUInt16LE(at + 2);
  const blockBytes = bytes.readUInt16LE(at + 12);
  const bits = bytes.readUInt16LE(at + 14);
  if (channels === 0 || channels > CHANNELS_MAX)
    throw unsupportedMedia('its channel count is wrong');
  const samplesPerBlock = blockSamples(code, channels, blockBytes, bits);
  if (samplesPerBlock < 1) throw unsupportedMedia('its sample format is wrong or not supported');
  return { rateHz: bytes.readUInt32LE(at + 4), blockBytes, samplesPerBlock };
}

/** Samples per channel in one block; 0 when the fields contradict each other or the code is not supported. */
function blockSamples(code: number, channels: number, blockBytes: number, bits: number): number {
  if (PCM_BITS.get(code)?.includes(bits) === true) {
    return blockBytes === channels * Math.ceil(bits / 8) ? 1 : 0;
  }
  if (bits !== 4) return 0;
  if (code === ADPCM_MICROSOFT) return Math.floor(((blockBytes - 7 * channels) * 2) / channels) + 2;
  if (code === ADPCM_IMA) {
    return Math.floor((blockBytes - 4 * channels) / (4 * channels)) * 8 + 1;
  }
  return 0;
}

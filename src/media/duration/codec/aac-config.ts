import { unsupportedMedia } from '../unsupported-media.error.js';
import { fixedPackets, type PacketCodec } from './packet-codec.js';
import type { FrameHeader } from '../frame-walk.js';

/** Sampling frequencies by index (ISO 14496-3). */
export const AAC_RATES_HZ: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];
const RATE_ESCAPE = 15;
const OBJECT_ESCAPE = 31;
const SPECTRAL_BAND_REPLICATION = 5;
const PARAMETRIC_STEREO = 29;
const LOW_DELAY = new Set([23, 39]);
/** AAC Main, LC, SSR, LTP: the kinds whose packets hold 1,024 (or 960) core samples. */
const GENERAL_AUDIO = new Set([1, 2, 3, 4]);

/**
 * The codec of an AAC track from its AudioSpecificConfig. It counts core samples per packet at the core rate, so
 * spectral band replication changes nothing. Throws `unsupported_audio_format` for other MPEG-4 audio objects.
 */
export function aacPackets(config: Buffer): PacketCodec {
  let position = 0;
  const bits = (count: number): number => {
    let value = 0;
    for (let end = position + count; position < end; position += 1) {
      value = value * 2 + ((config.readUInt8(position >> 3) >> (7 - (position & 7))) & 1);
    }
    return value;
  };
  const objectType = (): number => {
    const type = bits(5);
    return type === OBJECT_ESCAPE ? 32 + bits(6) : type;
  };
  const rate = (): number => {
    const index = bits(4);
    return index === RATE_ESCAPE ? bits(24) : (AAC_RATES_HZ[index] ?? 0);
  };

  let type = objectType();
  const coreRateHz = rate();
  bits(4);
  if (type === SPECTRAL_BAND_REPLICATION || type === PARAMETRIC_STEREO) {
    rate();
    type = objectType();
  }
  const isShortened = bits(1) === 1;
  if (LOW_DELAY.has(type)) return fixedPackets(coreRateHz, isShortened ? 480 : 512);
  if (GENERAL_AUDIO.has(type)) return fixedPackets(coreRateHz, isShortened ? 960 : 1024);
  throw unsupportedMedia('this kind of AAC is not supported');
}

const HEADER_BYTES = 7;
const SAMPLES_PER_BLOCK = 1024;

/** Reads an ADTS frame header: AAC blocks × 1,024 samples at the core rate. */
export function readAdtsFrame(bytes: Buffer, at: number): FrameHeader | undefined {
  if (at + HEADER_BYTES > bytes.length || bytes[at] !== 0xff) return undefined;
  if ((bytes.readUInt8(at + 1) & 0xf6) !== 0xf0) return undefined;
  const third = bytes.readUInt8(at + 2);
  const rateHz = AAC_RATES_HZ[(third >> 2) & 15];
  const size = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
  if (rateHz === undefined || size < HEADER_BYTES) return undefined;
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1;
  return { bytes: size, samples: blocks * SAMPLES_PER_BLOCK, rateHz, kind: third & 0x3c };
}

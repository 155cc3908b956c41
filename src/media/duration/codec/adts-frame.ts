import type { FrameHeader } from './frame-header.js';
import { AAC_RATES_HZ } from './aac-config.js';

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

import { GatewayError } from '../../src/common/errors/gateway-error.js';
import { measureBytes } from '../../src/media/duration/media-duration.js';

const EDITS_MAX = 8;
const SPLICE_BYTES_MAX = 4_096;
/** Values that make sizes and counts overflow or vanish. */
const EXTREMES = [0x00, 0x01, 0x7f, 0x80, 0xff];

/** A random number below `bound`; the same seed gives the same numbers. */
export type Random = (bound: number) => number;

/** A small fast generator of random numbers (mulberry32). */
export function repeatableRandom(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) % bound;
  };
}

/** A damaged copy: flipped and extreme bytes, mostly near the start, and cuts, repeats and splices of another file. */
export function mutated(seed: Buffer, other: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(seed);
  for (let edits = 1 + random(EDITS_MAX); edits > 0; edits -= 1) {
    const range = random(2) === 0 ? Math.min(bytes.length, 1_024) : bytes.length;
    const at = random(Math.max(range, 1));
    const kind = random(10);
    if (kind < 4) bytes[at] = random(256);
    else if (kind < 7)
      bytes.subarray(at, at + 1 + random(8)).fill(EXTREMES[random(EXTREMES.length)] ?? 0);
    else if (kind === 7) bytes = bytes.subarray(0, at);
    else {
      const source = kind === 8 ? bytes : other;
      const from = random(Math.max(source.length, 1));
      const piece = source.subarray(from, from + random(SPLICE_BYTES_MAX));
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
    }
  }
  return bytes;
}

/** Measured seconds, or undefined when the file is refused. Any other failure is thrown. */
export function measuredSeconds(media: Buffer): number | undefined {
  try {
    return Number(measureBytes(media).durationMicros) / 1_000_000;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'unsupported_audio_format')
      return undefined;
    throw error;
  }
}

import { unsupportedMedia } from '../unsupported-media.error.js';
import { type EbmlElement, readVint } from './ebml-element.js';

/** A block of a WebM cluster: frames of one track at one time. */
export interface WebmBlock {
  readonly track: number;
  /** Ticks after the time of the cluster; may be negative. */
  readonly relativeTick: number;
  /** Start and end of each frame. */
  readonly frames: readonly (readonly [number, number])[];
}

type Laces = readonly number[];
const XIPH = 1;
const FIXED = 2;

/**
 * Reads a (simple) block and its lacing (RFC 9559 §10). Throws `unsupported_audio_format` when the laces do not fit.
 */
export function readBlock(bytes: Buffer, element: EbmlElement): WebmBlock {
  const track = readVint(bytes, element.at, 'drop');
  const relativeTick = bytes.readInt16BE(track.end);
  const lacing = (bytes.readUInt8(track.end + 2) >> 1) & 3;
  let at = track.end + 3;
  if (at > element.end) throw unsupportedMedia('a block is broken');
  if (lacing === 0) return { track: track.value, relativeTick, frames: [[at, element.end]] };

  const count = bytes.readUInt8(at) + 1;
  const { sizes, end } = readLaces(bytes, at + 1, lacing, count, element.end);
  at = end;
  const frames: [number, number][] = [];
  for (const size of sizes) {
    frames.push([at, at + size]);
    at += size;
  }
  if (at > element.end || sizes.some((size) => size < 0))
    throw unsupportedMedia('a block is broken');
  frames.push([at, element.end]);
  return { track: track.value, relativeTick, frames };
}

/** Sizes of all frames except the last, which has the remaining bytes, and the offset of the first frame. */
function readLaces(
  bytes: Buffer,
  from: number,
  lacing: number,
  count: number,
  end: number,
): { sizes: Laces; end: number } {
  if (lacing === FIXED) {
    const size = Math.floor((end - from) / count);
    return { sizes: new Array<number>(count - 1).fill(size), end: from };
  }
  return lacing === XIPH ? readXiph(bytes, from, count) : readEbml(bytes, from, count);
}

function readXiph(bytes: Buffer, from: number, count: number): { sizes: Laces; end: number } {
  const sizes: number[] = [];
  let at = from;
  while (sizes.length < count - 1) {
    let size = 0;
    let part = 255;
    for (; part === 255; at += 1) {
      part = bytes.readUInt8(at);
      size += part;
    }
    sizes.push(size);
  }
  return { sizes, end: at };
}

function readEbml(bytes: Buffer, from: number, count: number): { sizes: Laces; end: number } {
  const sizes: number[] = [];
  let at = from;
  let size = 0;
  while (sizes.length < count - 1) {
    const number = readVint(bytes, at, 'drop');
    const length = number.end - at;
    // The first size is a plain number. The others are differences, stored with an offset of half their range.
    size = sizes.length === 0 ? number.value : size + number.value - (2 ** (7 * length - 1) - 1);
    sizes.push(size);
    at = number.end;
  }
  return { sizes, end: at };
}

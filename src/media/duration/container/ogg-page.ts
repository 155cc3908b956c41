import { unsupportedMedia } from '../unsupported-media.error.js';

const CAPTURE = Buffer.from('OggS');
const HEADER_BYTES = 27;
const LACING_FULL = 255;
const CHECKSUM_AT = 22;
const NO_CHECKSUM = Buffer.alloc(4);
const CHECKSUM_FAILURES_MAX = 1_000;
const CRC_32 = crc32Table();

/** One page of an Ogg file (RFC 3533 §6). */
export interface OggPage {
  readonly serial: number;
  readonly isContinued: boolean;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Samples up to the last packet that ends in this page; undefined when none ends here. */
  readonly granule: bigint | undefined;
  /** Start and end of each packet, or of the part of a packet in this page. */
  readonly parts: readonly (readonly [number, number])[];
  /** Whether the last part completes its packet. */
  readonly isLastPartWhole: boolean;
}

/**
 * Every page with a right checksum. Bytes between pages are skipped, as decoders do. A page that the end of the file
 * cuts off is the last. Throws `unsupported_audio_format` after 1,000 wrong checksums.
 */
export function* oggPages(bytes: Buffer): Generator<OggPage> {
  let failures = 0;
  let at = bytes.indexOf(CAPTURE);
  while (at >= 0 && at + HEADER_BYTES <= bytes.length) {
    const end = pageEnd(bytes, at);
    if (end <= bytes.length && checksum(bytes, at, end) === bytes.readUInt32LE(at + CHECKSUM_AT)) {
      yield readPage(bytes, at);
      at = end;
      if (bytes.indexOf(CAPTURE, at) === at) continue;
    } else {
      failures += 1;
      if (failures > CHECKSUM_FAILURES_MAX) throw unsupportedMedia('its pages are broken');
    }
    at = bytes.indexOf(CAPTURE, at + 1);
  }
}

function pageEnd(bytes: Buffer, at: number): number {
  const segments = bytes.readUInt8(at + 26);
  let end = at + HEADER_BYTES + segments;
  for (let index = 0; index < segments; index += 1) end += bytes[at + HEADER_BYTES + index] ?? 0;
  return end;
}

function readPage(bytes: Buffer, at: number): OggPage {
  const segments = bytes.readUInt8(at + 26);
  const parts: [number, number][] = [];
  let begin = at + HEADER_BYTES + segments;
  let end = begin;
  let lacing = 0;
  for (let index = 0; index < segments; index += 1) {
    lacing = bytes.readUInt8(at + HEADER_BYTES + index);
    end += lacing;
    if (lacing === LACING_FULL) continue;
    parts.push([begin, end]);
    begin = end;
  }
  if (lacing === LACING_FULL) parts.push([begin, end]);
  const flags = bytes.readUInt8(at + 5);
  const granule = bytes.readBigInt64LE(at + 6);
  return {
    serial: bytes.readUInt32LE(at + 14),
    isContinued: (flags & 1) !== 0,
    isFirst: (flags & 2) !== 0,
    isLast: (flags & 4) !== 0,
    granule: granule === -1n ? undefined : granule,
    parts,
    isLastPartWhole: lacing !== LACING_FULL,
  };
}

/** The page's CRC-32 (polynomial 0x04c11db7, not reflected), computed with zeros in its own field. */
function checksum(bytes: Buffer, from: number, to: number): number {
  const head = crc32(bytes, from, from + CHECKSUM_AT, 0);
  const field = crc32(NO_CHECKSUM, 0, NO_CHECKSUM.length, head);
  return crc32(bytes, from + CHECKSUM_AT + NO_CHECKSUM.length, to, field) >>> 0;
}

function crc32(bytes: Buffer, from: number, to: number, seed: number): number {
  let crc = seed;
  for (let at = from; at < to; at += 1) {
    crc = (crc << 8) ^ (CRC_32[((crc >>> 24) ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  }
  return crc;
}

function crc32Table(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, value) => {
    let crc = value << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
    return crc;
  });
}

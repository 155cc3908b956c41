/** An Ogg page holds at most this many segments (of at most 255 bytes each). */
const MAX_SEGMENTS = 255;
const NO_PACKET_ENDS = 0xffff_ffff_ffff_ffffn;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit++) {
    value = (value & 0x80000000) === 0 ? value << 1 : (value << 1) ^ 0x04c11db7;
  }
  return value >>> 0;
});

/** Writes one logical Ogg stream (RFC 3533), page after page. */
export class OggPages {
  private sequence = 0;

  constructor(private readonly serial: number) {}

  /**
   * Writes packets as one page, or as several when they do not fit. `granule` is the position of the stream after the
   * last packet; `isLast` marks the end of the stream.
   */
  page(packets: readonly Uint8Array[], granule: bigint, isLast = false): Buffer {
    const lacing = packets.flatMap((packet) => [
      ...new Array<number>(Math.floor(packet.length / 255)).fill(255),
      packet.length % 255,
    ]);
    const body = Buffer.concat(packets);
    const pages: Buffer[] = [];
    let at = 0;
    for (let first = 0; first < lacing.length; first += MAX_SEGMENTS) {
      const segments = lacing.slice(first, first + MAX_SEGMENTS);
      const end = at + segments.reduce((sum, length) => sum + length, 0);
      const isFinal = first + MAX_SEGMENTS >= lacing.length;
      const flags =
        (first > 0 && lacing[first - 1] === 255 ? 1 : 0) |
        (this.sequence === 0 ? 2 : 0) |
        (isFinal && isLast ? 4 : 0);
      pages.push(
        this.write(segments, body.subarray(at, end), flags, isFinal ? granule : NO_PACKET_ENDS),
      );
      at = end;
    }
    return Buffer.concat(pages);
  }

  private write(segments: readonly number[], body: Buffer, flags: number, granule: bigint): Buffer {
    const head = Buffer.alloc(27 + segments.length);
    head.write('OggS', 0, 'latin1');
    head.writeUInt8(flags, 5);
    head.writeBigUInt64LE(granule, 6);
    head.writeUInt32LE(this.serial, 14);
    head.writeUInt32LE(this.sequence++, 18);
    head.writeUInt8(segments.length, 26);
    segments.forEach((length, index) => head.writeUInt8(length, 27 + index));
    const page = Buffer.concat([head, body]);
    page.writeUInt32LE(checksum(page), 22);
    return page;
  }
}

function checksum(page: Buffer): number {
  let crc = 0;
  for (const byte of page) crc = ((crc << 8) ^ (CRC_TABLE[(crc >>> 24) ^ byte] ?? 0)) >>> 0;
  return crc;
}

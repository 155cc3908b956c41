const HEADER_BYTES = 27;
const PACKETS_PER_PAGE = 50;
const OPUS_RATE_HZ = 48_000;
const OPUS_PACKET_SAMPLES = 960;
const PRE_SKIP = 312;
const SILENT_PACKET = Buffer.from('f8fffe', 'hex');
const CRC_32 = Int32Array.from({ length: 256 }, (_, value) => {
  let crc = value << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

/** One page in parts. Everything except the lacing of its body may be changed before it is written again. */
export interface WrittenPage {
  flags: number;
  granule: bigint;
  serial: number;
  sequence: number;
  lacing: Buffer;
  body: Buffer;
}

/** The pages of an Ogg file. */
export function readPages(bytes: Buffer): WrittenPage[] {
  const pages: WrittenPage[] = [];
  for (let at = 0; at < bytes.length;) {
    const lacing = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + bytes.readUInt8(at + 26));
    const bodyAt = at + HEADER_BYTES + lacing.length;
    const body = bytes.subarray(bodyAt, bodyAt + lacing.reduce((sum, part) => sum + part, 0));
    pages.push({
      flags: bytes.readUInt8(at + 5),
      granule: bytes.readBigInt64LE(at + 6),
      serial: bytes.readUInt32LE(at + 14),
      sequence: bytes.readUInt32LE(at + 18),
      lacing,
      body,
    });
    at = bodyAt + body.length;
  }
  return pages;
}

/** An Ogg file of these pages, with right checksums. */
export function writePages(pages: readonly WrittenPage[]): Buffer {
  return Buffer.concat(pages.map(writePage));
}

function writePage(page: WrittenPage): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('OggS', 0, 'latin1');
  header.writeUInt8(page.flags, 5);
  header.writeBigInt64LE(page.granule, 6);
  header.writeUInt32LE(page.serial, 14);
  header.writeUInt32LE(page.sequence, 18);
  header.writeUInt8(page.lacing.length, 26);
  const bytes = Buffer.concat([header, page.lacing, page.body]);
  let crc = 0;
  for (const byte of bytes) crc = (crc << 8) ^ (CRC_32[(crc >>> 24) ^ byte] ?? 0);
  bytes.writeInt32LE(crc, 22);
  return bytes;
}

/** Pages of whole packets of equal length. The position of the last page trims the end. */
export function pagesOf(
  packets: readonly Buffer[],
  stream: { serial: number; samplesPerPacket: number; headers: number; lastGranule: bigint },
): WrittenPage[] {
  const pages: WrittenPage[] = [];
  const add = (run: readonly Buffer[], granule: bigint): void => {
    const lacing = run.flatMap(({ length }) => [
      ...new Array<number>(Math.floor(length / 255)).fill(255),
      length % 255,
    ]);
    pages.push({
      flags: pages.length === 0 ? 2 : 0,
      granule,
      serial: stream.serial,
      sequence: pages.length,
      lacing: Buffer.from(lacing),
      body: Buffer.concat(run),
    });
  };
  packets.slice(0, stream.headers).forEach((header) => {
    add([header], 0n);
  });
  for (let at = stream.headers; at < packets.length; at += PACKETS_PER_PAGE) {
    const run = packets.slice(at, at + PACKETS_PER_PAGE);
    add(run, BigInt((at + run.length - stream.headers) * stream.samplesPerPacket));
  }
  const last = pages.at(-1);
  if (last !== undefined) {
    last.flags |= 4;
    last.granule = stream.lastGranule;
  }
  return pages;
}

/** The headers of a mono Opus stream. */
export function opusHeaders(): Buffer[] {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt16LE(PRE_SKIP, 10);
  head.writeUInt32LE(OPUS_RATE_HZ, 12);
  return [head, Buffer.from('OpusTags\x04\0\0\0shim\0\0\0\0', 'latin1')];
}

/** Opus packets of 20 ms that cover this many samples and the pre-skip: mono full-band CELT, silence. */
export function packetsOfOpus(samples: number): Buffer[] {
  const count = Math.ceil((samples + PRE_SKIP) / OPUS_PACKET_SAMPLES);
  return new Array<Buffer>(count).fill(SILENT_PACKET);
}

/** The pages of an Ogg Opus stream that plays this many samples at 48 kHz. */
export function opusPages(samples: number, serial = 1): WrittenPage[] {
  return pagesOf([...opusHeaders(), ...packetsOfOpus(samples)], {
    serial,
    samplesPerPacket: OPUS_PACKET_SAMPLES,
    headers: 2,
    lastGranule: BigInt(samples + PRE_SKIP),
  });
}

const BLOCK_SAMPLES = 4_096;
const BITS = 16;

/** A mono 16-bit FLAC of silence, with one constant per frame. All frames may have the same number. */
export function flacFile(
  samples: number,
  rateHz = 8_000,
  numbering: 'honest' | 'all zero' = 'honest',
): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(BLOCK_SAMPLES, 0);
  info.writeUInt16BE(BLOCK_SAMPLES, 2);
  info.writeBigUInt64BE((BigInt(rateHz) << 44n) | (BigInt(BITS - 1) << 36n) | BigInt(samples), 10);
  const frames: Buffer[] = [];
  for (let done = 0; done < samples; done += BLOCK_SAMPLES) {
    const number = numbering === 'honest' ? frames.length : 0;
    frames.push(frame(Math.min(BLOCK_SAMPLES, samples - done), number));
  }
  return Buffer.concat([
    Buffer.from('fLaC'),
    Buffer.from([0x80, 0, 0, info.length]),
    info,
    ...frames,
  ]);
}

function frame(samples: number, number: number): Buffer {
  // Frame numbers are written as UTF-8 writes code points.
  const header = Buffer.from([
    0xff,
    0xf8,
    0x70,
    0x08,
    ...Buffer.from(String.fromCodePoint(number)),
    (samples - 1) >> 8,
    (samples - 1) & 0xff,
  ]);
  const body = Buffer.concat([header, Buffer.from([crc(header, 8, 0x07)]), Buffer.from([0, 0, 0])]);
  const tail = Buffer.alloc(2);
  tail.writeUInt16BE(crc(body, 16, 0x8005));
  return Buffer.concat([body, tail]);
}

function crc(bytes: Buffer, width: 8 | 16, polynomial: number): number {
  const top = 1 << (width - 1);
  let value = 0;
  for (const byte of bytes) {
    value ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit += 1) {
      value = ((value << 1) ^ ((value & top) === 0 ? 0 : polynomial)) & ((1 << width) - 1);
    }
  }
  return value;
}

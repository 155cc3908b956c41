import { tone } from './wav-file.js';

const EXPONENT_BIAS = 16_383 + 63;

function chunk(id: string, content: Buffer, declaredSize = content.length): Buffer {
  const header = Buffer.alloc(8);
  header.write(id, 0, 'latin1');
  header.writeUInt32BE(declaredSize, 4);
  return Buffer.concat([header, content, Buffer.alloc(content.length & 1)]);
}

/** The fields of an AIFF that may be false; the rest is true. */
export interface AiffLies {
  readonly declaredFrames?: number;
  readonly soundSize?: number;
  readonly soundOffset?: number;
  /** The ten bytes of the 80-bit rate. */
  readonly rate?: Buffer;
}

/** A mono 16-bit AIFF of a tone. */
export function aiffFile(samples: number, rateHz = 8_000, lies: AiffLies = {}): Buffer {
  const common = Buffer.alloc(18);
  common.writeUInt16BE(1, 0);
  common.writeUInt32BE(lies.declaredFrames ?? samples, 2);
  common.writeUInt16BE(16, 6);
  if (lies.rate === undefined) {
    const shift = Math.clz32(rateHz) + 32;
    common.writeUInt16BE(EXPONENT_BIAS - shift, 8);
    common.writeBigUInt64BE(BigInt(rateHz) << BigInt(shift), 10);
  } else lies.rate.copy(common, 8);
  const sound = Buffer.alloc(8 + samples * 2);
  sound.writeUInt32BE(lies.soundOffset ?? 0, 0);
  tone(samples, rateHz).forEach((value, index) => sound.writeInt16BE(value, 8 + index * 2));
  const content = Buffer.concat([
    Buffer.from('AIFF'),
    chunk('COMM', common),
    chunk('SSND', sound, lies.soundSize),
  ]);
  return chunk('FORM', content);
}

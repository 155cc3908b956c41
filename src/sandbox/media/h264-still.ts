import { BitWriter } from './bit-writer.js';
import type { Pixels } from './png-image.js';

/** Baseline profile, level 3: what every player takes, for pictures of up to 1620 macroblocks. */
const PROFILE = 66;
const COMPATIBILITY = 0xc0;
const LEVEL = 30;
const BLOCK = 16;
const FRAME_NUMBER_BITS = 16;
/** Macroblock types that carry samples as they are, in intra and in predicted slices. */
const RAW_IN_INTRA = 25;
const RAW_IN_PREDICTED = 30;
const WHITE_BLOCK = [...Array<number>(256).fill(235), ...Array<number>(128).fill(128)];

/** A picture as H.264: one key frame with its samples uncompressed, then frames that repeat it but for a bar that grows. */
export class StillFrames {
  private readonly columns: number;
  private readonly rows: number;

  /** Throws unless both sides are multiples of 16. */
  constructor(private readonly picture: Pixels) {
    if (picture.width % BLOCK !== 0 || picture.height % BLOCK !== 0) {
      throw new RangeError('The sides of the picture have to be multiples of 16');
    }
    this.columns = picture.width / BLOCK;
    this.rows = picture.height / BLOCK;
  }

  /** Codec name as browsers write it. */
  readonly codec = `avc1.${[PROFILE, COMPATIBILITY, LEVEL].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

  /** The decoder's configuration record (`avcC`). */
  get description(): Uint8Array {
    const [sequence, picture] = [this.sequenceParameters(), pictureParameters()];
    return Uint8Array.from([
      ...[1, PROFILE, COMPATIBILITY, LEVEL, 0xff, 0xe1],
      ...[sequence.length >> 8, sequence.length & 0xff, ...sequence],
      ...[1, picture.length >> 8, picture.length & 0xff, ...picture],
    ]);
  }

  /** The picture itself. */
  keyFrame(): Uint8Array {
    const bits = new BitWriter();
    for (const value of [0, 7, 0]) bits.golomb(value);
    bits.bits(0, FRAME_NUMBER_BITS);
    bits.golomb(0);
    bits.bits(0, 2);
    endSliceHeader(bits);
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        bits.golomb(RAW_IN_INTRA);
        bits.alignedBytes(blockSamples(this.picture, column * BLOCK, row * BLOCK));
      }
    }
    return withLength(networkUnit(0x65, bits.finish()));
  }

  /** A frame like the one before, in which the bar at the bottom has grown to `share` (0 to 1) of the width. */
  nextFrame(number: number, share: number): Uint8Array {
    const bits = new BitWriter();
    for (const value of [0, 5, 0]) bits.golomb(value);
    bits.bits(number % 2 ** FRAME_NUMBER_BITS, FRAME_NUMBER_BITS);
    bits.bits(0, 3);
    endSliceHeader(bits);
    const column = Math.min(this.columns - 1, Math.floor(share * this.columns));
    bits.golomb((this.rows - 1) * this.columns + column);
    bits.golomb(RAW_IN_PREDICTED);
    bits.alignedBytes(WHITE_BLOCK);
    if (column < this.columns - 1) bits.golomb(this.columns - 1 - column);
    return withLength(networkUnit(0x41, bits.finish()));
  }

  private sequenceParameters(): Uint8Array {
    const bits = new BitWriter();
    for (const byte of [PROFILE, COMPATIBILITY, LEVEL]) bits.bits(byte, 8);
    for (const value of [0, FRAME_NUMBER_BITS - 4, 2, 1]) bits.golomb(value);
    bits.bits(0, 1);
    bits.golomb(this.columns - 1);
    bits.golomb(this.rows - 1);
    bits.bits(0b1100, 4);
    return networkUnit(0x67, bits.finish());
  }
}

function pictureParameters(): Uint8Array {
  const bits = new BitWriter();
  for (const value of [0, 0]) bits.golomb(value);
  bits.bits(0, 2);
  for (const value of [0, 0, 0]) bits.golomb(value);
  bits.bits(0, 3);
  for (const value of [0, 0, 0]) bits.golomb(value);
  bits.bits(0b100, 3);
  return networkUnit(0x68, bits.finish());
}

/** Quantiser as the picture parameters say; no deblocking, which would blur uncompressed samples. */
function endSliceHeader(bits: BitWriter): void {
  bits.golomb(0);
  bits.golomb(1);
}

/** A unit's header and payload, with the bytes that keep it from looking like a start code. */
function networkUnit(header: number, payload: Uint8Array): Uint8Array {
  const bytes = [header];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Uint8Array.from(bytes);
}

function withLength(unit: Uint8Array): Uint8Array {
  const framed = Buffer.alloc(unit.length + 4);
  framed.writeUInt32BE(unit.length, 0);
  framed.set(unit, 4);
  return framed;
}

/** Luma of 16 × 16 pixels, then both chromas of 8 × 8, in the limited range of video. */
function blockSamples({ width, data }: Pixels, left: number, top: number): number[] {
  const luma: number[] = [];
  const blue: number[] = [];
  const red: number[] = [];
  for (let y = 0; y < BLOCK; y++) {
    for (let x = 0; x < BLOCK; x++) {
      const at = ((top + y) * width + left + x) * 3;
      const [r = 0, g = 0, b = 0] = [data[at], data[at + 1], data[at + 2]];
      luma.push(Math.round(16 + 0.257 * r + 0.504 * g + 0.098 * b));
      if ((x | y) % 2 !== 0) continue;
      blue.push(Math.round(128 - 0.148 * r - 0.291 * g + 0.439 * b));
      red.push(Math.round(128 + 0.439 * r - 0.368 * g - 0.071 * b));
    }
  }
  return [...luma, ...blue, ...red];
}

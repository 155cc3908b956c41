import { unsupportedMedia } from '../unsupported-media.error.js';
import type { PacketCodec } from './packet-codec.js';

/** The shortest frame: a header of 6 bytes, one constant 8-bit channel, a checksum. */
const FRAME_BYTES_MIN = 10;
const CHANNEL_CODE_MAX = 10;
const SYNC_BYTE = 0xff;
const STREAMINFO_BYTES = 34;
const RATES_HZ = [
  0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
];
const BLOCK_SAMPLES = [
  0,
  192,
  576,
  1152,
  2304,
  4608,
  undefined,
  undefined,
  256,
  512,
  1024,
  2048,
  4096,
  8192,
  16_384,
  32_768,
];
/** Number of bytes of a block size after the header, by its code. */
const SIZE_BYTES = [0, 0, 0, 0, 0, 0, 1, 2];
/** Units of sample rates after the header, by their code from 12 on. */
const FIRST_WRITTEN_RATE = 12;
const RATE_UNITS = [
  { bytes: 1, hz: 1_000 },
  { bytes: 2, hz: 1 },
  { bytes: 2, hz: 10 },
];
const CRC_8 = crc8Table();

interface FlacFrame {
  readonly samples: number;
  /** 0 means that the rate is in STREAMINFO. */
  readonly rateHz: number;
  /** Number of the frame, or of its first sample if the block size varies. */
  readonly number: number;
  readonly nextNumber: number;
}

/**
 * Counts FLAC from frame headers whose checksum is right and whose number continues the count (RFC 9639 §9.1). One call
 * may contain any number of frames. Of the STREAMINFO block `streamInfo` only the rate is used.
 */
export class FlacFrames implements PacketCodec {
  readonly rateHz: number;
  readonly preSkip = 0;
  private doubtfulSamples = 0;
  private expected = 0;
  private doubtful: FlacFrame | undefined;

  constructor(streamInfo: Buffer) {
    if (streamInfo.length < STREAMINFO_BYTES) throw unsupportedMedia('the FLAC header is broken');
    this.rateHz = streamInfo.readUIntBE(10, 3) >> 4;
  }

  /**
   * Whether more than half a second of audio is in frames whose number does not continue the count. So much does not
   * match by chance: these may be frames that would escape the count.
   */
  get isDoubtful(): boolean {
    return this.doubtfulSamples * 2 > this.rateHz;
  }

  samplesOf(bytes: Buffer, at: number, end: number): number {
    let samples = 0;
    for (
      let sync = bytes.indexOf(SYNC_BYTE, at);
      sync >= 0 && sync < end;
      sync = bytes.indexOf(SYNC_BYTE, sync + 1)
    ) {
      const frame = readFrame(bytes, sync);
      if (frame !== undefined) samples += this.accept(frame);
    }
    return samples;
  }

  private accept(frame: FlacFrame): number {
    let { samples } = frame;
    if (frame.number !== this.expected) {
      if (frame.number !== this.doubtful?.nextNumber) {
        this.doubtful = frame;
        this.doubtfulSamples += samples;
        return 0;
      }
      // The next frame continues the count from the doubtful frame, so that was a real frame.
      this.doubtfulSamples -= this.doubtful.samples;
      samples += this.doubtful.samples;
    }
    if (frame.rateHz !== 0 && frame.rateHz !== this.rateHz)
      throw unsupportedMedia('its sample rate changes');
    this.expected = frame.nextNumber;
    this.doubtful = undefined;
    return samples;
  }
}

function readFrame(bytes: Buffer, at: number): FlacFrame | undefined {
  if (at + FRAME_BYTES_MIN > bytes.length || !startsHeader(bytes, at)) return undefined;
  const number = readNumber(bytes, at + 4);
  if (number === undefined) return undefined;
  const codes = bytes.readUInt8(at + 2);
  const rateUnit = RATE_UNITS[(codes & 15) - FIRST_WRITTEN_RATE];
  const rateAt = number.end + (SIZE_BYTES[codes >> 4] ?? 0);
  const end = rateAt + (rateUnit?.bytes ?? 0);
  if (crc8(bytes, at, end) !== bytes[end]) return undefined;

  const samples =
    BLOCK_SAMPLES[codes >> 4] ?? bytes.readUIntBE(number.end, rateAt - number.end) + 1;
  const rateHz = rateUnit
    ? bytes.readUIntBE(rateAt, rateUnit.bytes) * rateUnit.hz
    : (RATES_HZ[codes & 15] ?? 0);
  const isVariable = (bytes.readUInt8(at + 1) & 1) === 1;
  const nextNumber = number.value + (isVariable ? samples : 1);
  return { samples, rateHz, number: number.value, nextNumber };
}

/** Whether the first four bytes of a header are at `at`: the sync code and no reserved value. */
function startsHeader(bytes: Buffer, at: number): boolean {
  if ((bytes.readUInt8(at + 1) & 0xfe) !== 0xf8) return false;
  const codes = bytes.readUInt8(at + 2);
  const shape = bytes.readUInt8(at + 3);
  return codes >> 4 !== 0 && (codes & 15) !== 15 && shape >> 4 <= CHANNEL_CODE_MAX && !(shape & 1);
}

/** Reads the number of the frame or sample, which is coded like UTF-8 in up to seven bytes. */
function readNumber(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const lead = bytes.readUInt8(at);
  if (lead < 0x80) return { value: lead, end: at + 1 };
  const length = Math.clz32(~(lead << 24));
  if (length === 1 || length > 7) return undefined;
  let value = lead & (0x7f >> length);
  for (let index = 1; index < length; index += 1) {
    value = value * 64 + ((bytes[at + index] ?? 0) & 63);
  }
  return { value, end: at + length };
}

function crc8(bytes: Buffer, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at += 1) crc = CRC_8[crc ^ (bytes[at] ?? 0)] ?? 0;
  return crc;
}

function crc8Table(): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, value) => {
    let crc = value;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x80) === 0 ? crc << 1 : (crc << 1) ^ 0x07;
    return crc & 0xff;
  });
}

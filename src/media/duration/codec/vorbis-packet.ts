import { unsupportedMedia } from '../unsupported-media.error.js';
import type { PacketCodec } from './packet-codec.js';

const IDENTIFICATION_BYTES = 30;
const MODE_BITS = 41;
const MODES_MAX = 64;
const SETUP_TAIL_BITS = 97;

/**
 * Counts Vorbis from block sizes: a packet yields a quarter of its block and of the previous block (Vorbis I §4.3.8).
 * `identification` and `setup` are the header packets. Throws `unsupported_audio_format`.
 */
export function vorbisPackets(identification: Buffer, setup: Buffer): PacketCodec {
  if (identification.length < IDENTIFICATION_BYTES || !isVorbisHeader(identification, 1)) {
    throw unsupportedMedia('the Vorbis header is broken');
  }
  if (!isVorbisHeader(setup, 5)) throw unsupportedMedia('the Vorbis setup is missing');
  const exponents = identification.readUInt8(28);
  const blockSamples = [1 << (exponents & 15), 1 << (exponents >> 4)];
  const longModes = readModes(setup);
  const modeMask = (1 << (32 - Math.clz32(longModes.length - 1))) - 1;
  let previous = 0;
  return {
    rateHz: identification.readUInt32LE(12),
    preSkip: 0,
    samplesOf(bytes, at, end) {
      const first = bytes[at] ?? 1;
      if (at >= end || (first & 1) === 1) return 0;
      const block = blockSamples[longModes[(first >> 1) & modeMask] === true ? 1 : 0] ?? 0;
      const samples = previous === 0 ? 0 : (previous + block) / 4;
      previous = block;
      return samples;
    },
  };
}

/** Whether a packet is the Vorbis header of this type (1 identification, 3 comment, 5 setup). */
export function isVorbisHeader(packet: Buffer, type: number): boolean {
  return packet[0] === type && packet.toString('latin1', 1, 7) === 'vorbis';
}

/**
 * The block flag of each mode, read backwards from the framing bit. The modes are the last part of the setup header, so
 * the rest need not be parsed.
 */
function readModes(setup: Buffer): boolean[] {
  const total = setup.length * 8;
  const bitAt = (index: number): number =>
    ((setup[setup.length - 1 - (index >> 3)] ?? 0) >> (7 - (index & 7))) & 1;
  const bits = (from: number, count: number): number => {
    let value = 0;
    for (let index = from; index < from + count; index += 1) value = value * 2 + bitAt(index);
    return value;
  };
  let start = 0;
  while (start < total - SETUP_TAIL_BITS && bitAt(start) === 0) start += 1;
  start += 1;

  const flags: boolean[] = [];
  let count = 0;
  for (let at = start; at + SETUP_TAIL_BITS <= total && flags.length < MODES_MAX; at += MODE_BITS) {
    if (bits(at, 8) >= MODES_MAX || bits(at + 8, 32) !== 0) break;
    flags.push(bitAt(at + 40) === 1);
    if (bits(at + MODE_BITS, 6) + 1 === flags.length) count = flags.length;
  }
  if (count === 0) throw unsupportedMedia('the Vorbis setup is broken');
  return flags.slice(0, count).reverse();
}

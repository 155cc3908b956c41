import type { PacketCodec } from './packet-codec.js';

/** Uncompressed audio: `frameBytes` hold one sample of every channel. */
export function pcmPackets(rateHz: number, frameBytes: number): PacketCodec {
  return {
    rateHz,
    preSkip: 0,
    samplesOf: (_bytes, at, end) => Math.floor((end - at) / frameBytes),
  };
}

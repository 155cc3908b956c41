/**
 * Counts the samples in the packets of one audio (or video) stream. One instance per stream; packets are passed in
 * order.
 */
export interface PacketCodec {
  readonly rateHz: number;
  /** Samples that a decoder drops at the start of the stream. */
  readonly preSkip: number;
  /** Samples of the packet at `bytes[at, end)`; 0 for a header packet. Throws `unsupported_audio_format`. */
  samplesOf(bytes: Buffer, at: number, end: number): number;
}

/** A codec whose packets all have the same number of samples (AAC, ALAC, the frames of a video). */
export function fixedPackets(rateHz: number, samplesPerPacket: number): PacketCodec {
  return { rateHz, preSkip: 0, samplesOf: () => samplesPerPacket };
}

/** Uncompressed audio: `frameBytes` hold one sample of every channel. */
export function pcmPackets(rateHz: number, frameBytes: number): PacketCodec {
  return {
    rateHz,
    preSkip: 0,
    samplesOf: (_bytes, at, end) => Math.floor((end - at) / frameBytes),
  };
}

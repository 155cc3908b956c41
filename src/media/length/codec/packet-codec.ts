/** Counts the samples in packets of one audio (or video) stream; one instance per stream, fed in order. */
export interface PacketCodec {
  readonly rateHz: number;
  /** Samples a decoder drops at the start of the stream. */
  readonly preSkip: number;
  /** Samples of the packet at `bytes[at, end)`; a header packet has none. Throws `unsupported_audio_format`. */
  samplesOf(bytes: Buffer, at: number, end: number): number;
}

/** A codec whose packets all hold the same number of samples (AAC, ALAC, a video's frames). */
export function fixedPackets(rateHz: number, samplesPerPacket: number): PacketCodec {
  return { rateHz, preSkip: 0, samplesOf: () => samplesPerPacket };
}

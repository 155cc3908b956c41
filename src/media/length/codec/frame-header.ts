/** One frame of a raw frame stream (MP3, ADTS), told by its header. */
export interface FrameHeader {
  /** Size of the whole frame. */
  readonly bytes: number;
  /** Samples per channel. */
  readonly samples: number;
  readonly rateHz: number;
  /** Equal for frames of one encoding: version, layer or profile, rate. */
  readonly kind: number;
}

/** Reads the frame header at `at`, or nothing where none is. */
export type ReadFrameHeader = (bytes: Buffer, at: number) => FrameHeader | undefined;

/** One frame of a raw frame stream (MP3, ADTS), from its header. */
export interface FrameHeader {
  /** Size of the whole frame. */
  readonly bytes: number;
  /** Samples per channel. */
  readonly samples: number;
  readonly rateHz: number;
  /** The same for all frames of one encoding: version, layer or profile, rate. */
  readonly kind: number;
}

/** Reads the frame header at `at`; undefined if there is none. */
export type ReadFrameHeader = (bytes: Buffer, at: number) => FrameHeader | undefined;

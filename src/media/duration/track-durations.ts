/** The longest audio track and the longest video track of a container, in microseconds. */
export interface TrackDurations {
  /** 0 when no audio was found. */
  readonly audioMicros: bigint;
  readonly videoMicros?: bigint;
}

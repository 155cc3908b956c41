/** What a container's walker tells: the longest audio and the longest video track, in microseconds. */
export interface TrackLengths {
  /** 0 when no audio was found. */
  readonly audioMicros: bigint;
  readonly videoMicros?: bigint;
}

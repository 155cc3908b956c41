import { unsupportedMedia } from './unsupported-media.error.js';

/** The longest audio track and the longest video track of a container, in microseconds. */
export interface TrackDurations {
  /** 0 when no audio was found. */
  readonly audioMicros: bigint;
  readonly videoMicros?: bigint;
}

const TOLERANCE_MICROS = 1_000_000n;
const TOLERANCE_PERCENT = 3n;

/**
 * Compares the container's timeline with the sum of the codec frames. If it differs by more than 1 s and 3 %, the file
 * is rejected with `unsupported_audio_format`. All durations are in microseconds.
 */
export function checkTimeline(framesMicros: bigint, timelineMicros: bigint): void {
  const difference = framesMicros - timelineMicros;
  const gap = difference < 0n ? -difference : difference;
  if (gap > TOLERANCE_MICROS && gap * 100n > framesMicros * TOLERANCE_PERCENT) {
    throw unsupportedMedia('its timeline and its frames disagree');
  }
}

/** The duration without an encoder's end trim, as far as the trim is within the last frame. */
export function trimEnd(framesMicros: bigint, trimMicros: bigint, lastFrameMicros: bigint): bigint {
  return trimMicros > 0n && trimMicros < lastFrameMicros ? framesMicros - trimMicros : framesMicros;
}

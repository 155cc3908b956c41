import { aiffDuration } from './container/aiff-duration.js';
import { flacDuration, adtsDuration, mp3Duration } from './container/frame-stream-duration.js';
import { mp4Duration } from './container/mp4-duration.js';
import { oggDuration } from './container/ogg-duration.js';
import { wavDuration } from './container/wav-duration.js';
import { webmDuration } from './container/webm-duration.js';
import { type MediaFormat, skipId3, sniffFormat } from './sniff.js';
import type { TrackDurations } from './track-durations.js';
import { unsupportedMedia } from './unsupported-media.error.js';

/** The result of measuring a media file. */
export interface MediaDuration {
  readonly format: MediaFormat;
  /** Duration of the longest audio track in integer microseconds, rounded up, more than 0. */
  readonly durationMicros: bigint;
  readonly hasVideo: boolean;
  /** Duration of the longest video track, by the times of its frames. */
  readonly videoDurationMicros?: bigint;
}

const WALKERS: Record<MediaFormat, (bytes: Buffer) => TrackDurations> = {
  wav: wavDuration,
  aiff: aiffDuration,
  mp3: mp3Duration,
  aac: adtsDuration,
  mp4: mp4Duration,
  m4a: mp4Duration,
  mov: mp4Duration,
  flac: flacDuration,
  ogg: oggDuration,
  webm: webmDuration,
};

/**
 * Duration of a whole media file, counted from its codec frames. Duration fields are ignored, and the content decides
 * the format (decision G-44). It blocks while it counts, so servers use `measureMediaDuration`. Throws
 * `unsupported_audio_format` for a file that is unreadable, has no audio track or has no samples.
 */
export function measureBytes(file: Buffer): MediaDuration {
  const bytes = file.subarray(skipId3(file));
  const format = sniffFormat(bytes);
  if (format === undefined)
    throw unsupportedMedia(`it is none of ${Object.keys(WALKERS).join(', ')}`);
  const { audioMicros, videoMicros } = walk(format, bytes);
  if (audioMicros <= 0n) throw unsupportedMedia('it holds no audio');
  return {
    format,
    durationMicros: audioMicros,
    hasVideo: videoMicros !== undefined,
    ...(videoMicros !== undefined && { videoDurationMicros: videoMicros }),
  };
}

function walk(format: MediaFormat, bytes: Buffer): TrackDurations {
  try {
    return WALKERS[format](bytes);
  } catch (error) {
    // A structure that points beyond the end of the file makes a read fail. The error is recognised by its name,
    // because it may come from another realm.
    if ((error as Error).name === 'RangeError') throw unsupportedMedia('it is cut off or broken');
    throw error;
  }
}

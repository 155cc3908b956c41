import { aiffLength } from './container/aiff-length.js';
import { flacLength } from './container/flac-length.js';
import { adtsLength, mp3Length } from './container/frame-stream-length.js';
import { mp4Length } from './container/mp4-length.js';
import { oggLength } from './container/ogg-length.js';
import { wavLength } from './container/wav-length.js';
import { webmLength } from './container/webm-length.js';
import { type MediaFormat, skipId3, sniffFormat } from './sniff.js';
import type { TrackLengths } from './track-lengths.js';
import { unreadable } from './unreadable.js';

/** The result of measuring a media file. */
export interface MediaLength {
  readonly format: MediaFormat;
  /** Length of the longest audio track in integer microseconds, rounded up, more than 0. */
  readonly lengthMicros: bigint;
  readonly hasVideo: boolean;
  /** Length of the longest video track, by the times of its frames. */
  readonly videoLengthMicros?: bigint;
}

const WALKERS: Record<MediaFormat, (bytes: Buffer) => TrackLengths> = {
  wav: wavLength,
  aiff: aiffLength,
  mp3: mp3Length,
  aac: adtsLength,
  mp4: mp4Length,
  m4a: mp4Length,
  mov: mp4Length,
  flac: flacLength,
  ogg: oggLength,
  webm: webmLength,
};

/**
 * Length of a whole media file, counted from its codec frames. Duration fields are ignored, and the content decides the
 * format (decision G-44). It blocks while it counts, so servers use `measureMediaLength`. Throws
 * `unsupported_audio_format` for a file that is unreadable, has no audio track or has no samples.
 */
export function measureBytes(file: Buffer): MediaLength {
  const bytes = file.subarray(skipId3(file));
  const format = sniffFormat(bytes);
  if (format === undefined) throw unreadable('it is no supported format');
  const { audioMicros, videoMicros } = walk(format, bytes);
  if (audioMicros <= 0n) throw unreadable('it holds no audio');
  return {
    format,
    lengthMicros: audioMicros,
    hasVideo: videoMicros !== undefined,
    ...(videoMicros !== undefined && { videoLengthMicros: videoMicros }),
  };
}

function walk(format: MediaFormat, bytes: Buffer): TrackLengths {
  try {
    return WALKERS[format](bytes);
  } catch (error) {
    // A structure that points beyond the end of the file makes a read fail. The error is recognised by its name,
    // because it may come from another realm.
    if ((error as Error).name === 'RangeError') throw unreadable('it is cut off or broken');
    throw error;
  }
}

import { FlacFrames } from '../codec/flac-frame.js';
import { durationMicros } from '../sample-counter.js';
import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';

const MAGIC_BYTES = 4;
const BLOCK_HEADER_BYTES = 4;
const LAST_BLOCK = 0x80;

/** Duration of a FLAC file from its frames. Joined files add up; the total in STREAMINFO is ignored. */
export function flacDuration(bytes: Buffer): TrackDurations {
  let at = MAGIC_BYTES;
  const frames = new FlacFrames(bytes.subarray(at + BLOCK_HEADER_BYTES));
  for (let isLast = false; !isLast;) {
    isLast = (bytes.readUInt8(at) & LAST_BLOCK) !== 0;
    at += BLOCK_HEADER_BYTES + bytes.readUIntBE(at + 1, 3);
  }
  const samples = frames.samplesOf(bytes, at, bytes.length);
  if (frames.isDoubtful) throw unsupportedMedia('it holds stray audio frames');
  return { audioMicros: durationMicros(samples, frames.rateHz) };
}

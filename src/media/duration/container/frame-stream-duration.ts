import { readAdtsFrame } from '../codec/aac-config.js';
import { isInformationFrame, readMpegFrame } from '../codec/mpeg-frame.js';
import { walkFrames } from '../frame-walk.js';
import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';
import { FlacFrames } from '../codec/flac-frame.js';
import { durationMicros } from '../sample-counter.js';

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

/** Duration of an MP3 from its frames. Joined files and changes of rate or channels are counted. */
export function mp3Duration(bytes: Buffer): TrackDurations {
  const first = readMpegFrame(bytes, 0);
  const isInformation = first !== undefined && isInformationFrame(bytes, 0, first.bytes);
  const from = isInformation ? first.bytes : 0;
  return { audioMicros: walkFrames(bytes, from, bytes.length, readMpegFrame).micros() };
}

/**
 * Duration of an ADTS stream from its frames. A stream whose sample rate changes is rejected, because decoders play it
 * differently.
 */
export function adtsDuration(bytes: Buffer): TrackDurations {
  const tally = walkFrames(bytes, 0, bytes.length, readAdtsFrame);
  if (tally.rates > 1) throw unsupportedMedia('its sample rate changes');
  return { audioMicros: tally.micros() };
}

import { readAdtsFrame } from '../codec/adts-frame.js';
import { isInformationFrame, readMpegFrame } from '../codec/mpeg-frame.js';
import { walkFrames } from '../frame-walk.js';
import type { TrackDurations } from '../track-durations.js';
import { unsupportedMedia } from '../unsupported-media.error.js';

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

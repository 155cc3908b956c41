import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import type { TrackView } from './song-result.view.js';
import { familyOf } from './song-task.js';

/** A range may end this much after the track, because providers round. */
const SLACK_SECONDS = 0.5;
/** Longest fade for a track of unknown length. */
const MAX_FADE_SECONDS = 60;

/** Throws 400 `invalid_music_request` for a time beyond the end of the source track, if its length is known. */
export function checkWithinTrack(body: JsonObject, track: TrackView | undefined): void {
  if (!track) return;
  const { duration_seconds: seconds } = track;
  const end = seconds === undefined ? Infinity : withSlack(seconds);
  rejectTimeBeyond(body, 'end_s', end);
  rejectTimeBeyond(body, 'vocal_end_s', end);
  rejectTimeBeyond(body, 'continue_at', seconds ?? Infinity);
  rejectTimeAtEnd(body, seconds);
  rejectTimeBeyond(body, 'fade_time_s', seconds ?? MAX_FADE_SECONDS);
}

/** A song continues from within its source; a tune may continue from the very end. */
function rejectTimeAtEnd(
  { model, continue_at: position }: JsonObject,
  seconds: number | undefined,
): void {
  if (typeof position !== 'number' || position !== seconds) return;
  if (familyOf(String(model)) === 'tune') return;
  const message = `continue_at must be below ${position}, the end of the source track.`;
  throw new GatewayError('invalid_music_request', message, { param: 'continue_at' });
}

/** In whole microseconds, so that a sum such as 0.18 + 0.5 is what it is on paper. */
function withSlack(seconds: number): number {
  return Math.round((seconds + SLACK_SECONDS) * 1e6) / 1e6;
}

function rejectTimeBeyond(body: JsonObject, field: string, end: number): void {
  const value = body[field];
  if (typeof value !== 'number' || value <= end) return;
  const message = `${field} must be at most ${end} for this source track.`;
  throw new GatewayError('invalid_music_request', message, { param: field });
}

import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import type { TrackView } from './song-result.view.js';

/** A range may end this much after the track, because providers round. */
const SLACK_SECONDS = 0.5;
/** Longest fade for a track of unknown length. */
const MAX_FADE_SECONDS = 60;

/** Throws 400 `invalid_music_request` for a time beyond the end of the source track, if its length is known. */
export function checkWithinTrack(body: JsonObject, track: TrackView | undefined): void {
  if (!track) return;
  const { duration_seconds: seconds } = track;
  const end = seconds === undefined ? Infinity : seconds + SLACK_SECONDS;
  refuseBeyond(body, 'end_s', end);
  refuseBeyond(body, 'vocal_end_s', end);
  refuseBeyond(body, 'continue_at', seconds ?? Infinity);
  refuseBeyond(body, 'fade_time_s', seconds ?? MAX_FADE_SECONDS);
}

function refuseBeyond(body: JsonObject, field: string, end: number): void {
  const value = body[field];
  if (typeof value !== 'number' || value <= end) return;
  const message = `${field} lies beyond the source track, which ends at ${end} seconds.`;
  throw new GatewayError('invalid_music_request', message, { param: field });
}

import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';
import { checkWithinTrack } from './song-limits.js';

/** The field that was refused, or that the body was accepted. */
function verdictOf(body: JsonObject, seconds: number | undefined): string | null {
  try {
    checkWithinTrack(body, {
      index: 1,
      ...(seconds !== undefined && { duration_seconds: seconds }),
    });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'invalid_music_request') throw error;
    return error.param;
  }
}

describe('checkWithinTrack', () => {
  it.each([
    [{ model: 'song-crop', end_s: 211.94 }, 211.44, 'accepted'],
    [{ model: 'song-crop', end_s: 211.95 }, 211.44, 'end_s'],
    [{ model: 'song-crop', end_s: 0.68 }, 0.18, 'accepted'],
    [{ model: 'song-persona', vocal_end_s: 30.5 }, 30, 'accepted'],
    [{ model: 'song-persona', vocal_end_s: 30.51 }, 30, 'vocal_end_s'],
    [{ model: 'song-fade-in', fade_time_s: 30 }, 30, 'accepted'],
    [{ model: 'song-fade-out', fade_time_s: 30.01 }, 30, 'fade_time_s'],
    [{ model: 'song-extend', continue_at: 29.99 }, 30, 'accepted'],
    [{ model: 'song-extend', continue_at: 30 }, 30, 'continue_at'],
    [{ model: 'song-extend', continue_at: 30.01 }, 30, 'continue_at'],
    [{ model: 'tune-music-extend', continue_at: 30 }, 30, 'accepted'],
    [{ model: 'tune-music-extend', continue_at: 30.01 }, 30, 'continue_at'],
  ])('of %j on a track of %d s says %s', (body, seconds, verdict) => {
    expect(verdictOf(body, seconds)).toBe(verdict);
  });

  it('bounds nothing but a fade on a track of unknown length', () => {
    expect(verdictOf({ model: 'song-crop', end_s: 3_600 }, undefined)).toBe('accepted');
    expect(verdictOf({ model: 'song-extend', continue_at: 3_600 }, undefined)).toBe('accepted');
    expect(verdictOf({ model: 'song-fade-in', fade_time_s: 60 }, undefined)).toBe('accepted');
    expect(verdictOf({ model: 'song-fade-in', fade_time_s: 60.01 }, undefined)).toBe('fade_time_s');
  });

  it('bounds nothing where no track is named', () => {
    expect(() => {
      checkWithinTrack({ model: 'song-upload-extend', continue_at: 3_600 }, undefined);
    }).not.toThrow();
  });
});

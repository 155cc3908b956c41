import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../config/load-config.js';
import { changedCalls } from './ttapi-call-changes.js';
import { TTAPI_CALLS } from './ttapi-calls.js';
import { requestBody } from './ttapi-request.js';

const change = { names: {}, values: {} };

describe('changedCalls', () => {
  it('changes path, names and values of a call and leaves the others alone', () => {
    const calls = changedCalls(TTAPI_CALLS, [
      {
        call: 'suno/cover',
        path: '/suno/v2/cover',
        names: { music_id: 'clip', mv: 'engine', tags: 'style' },
        values: { version: { v6: 'chirp-next' } },
      },
    ]);
    const call = calls['suno/cover']!;
    const fields = { custom: true, prompt: 'la', tags: 'folk', variety: 'max' };
    expect(call.path).toBe('/suno/v2/cover');
    expect(requestBody(call, { fields, trackIds: ['m-1'] }, {})).toEqual({
      isStorage: true,
      custom: true,
      prompt: 'la',
      style: 'folk',
      variety: 4,
      clip: 'm-1',
      engine: 'chirp-next',
    });
    expect(calls['suno/music']).toBe(TTAPI_CALLS['suno/music']);
  });

  it('adds a call like another', () => {
    const calls = changedCalls(TTAPI_CALLS, [
      { ...change, call: 'suno/waltz', like: 'suno/cover', path: '/suno/v1/waltz' },
    ]);
    expect(calls['suno/waltz']).toMatchObject({ path: '/suno/v1/waltz', answer: 'tracks' });
  });

  it('refuses a call that nobody knows', () => {
    expect(() => changedCalls(TTAPI_CALLS, [{ ...change, call: 'suno/none' }])).toThrow(
      ConfigError,
    );
  });
});

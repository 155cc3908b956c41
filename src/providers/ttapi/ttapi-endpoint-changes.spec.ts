import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../config/load-config.js';
import { changedEndpoints } from './ttapi-endpoint-changes.js';
import { TTAPI_ENDPOINTS } from './ttapi-endpoints.js';
import { requestBody } from './ttapi-request.js';

const change = { names: {}, values: {} };

describe('changedEndpoints', () => {
  it('changes path, names and values of an endpoint and leaves the others alone', () => {
    const endpoints = changedEndpoints(TTAPI_ENDPOINTS, [
      {
        name: 'suno/cover',
        path: '/suno/v2/cover',
        names: { music_id: 'clip', mv: 'engine', tags: 'style' },
        values: { version: { v6: 'chirp-next' } },
      },
    ]);
    const endpoint = endpoints['suno/cover']!;
    const fields = { custom: true, prompt: 'la', tags: 'folk', variety: 'max' };
    expect(endpoint.path).toBe('/suno/v2/cover');
    expect(requestBody(endpoint, { fields, trackIds: ['m-1'] }, {})).toEqual({
      isStorage: true,
      custom: true,
      prompt: 'la',
      style: 'folk',
      variety: 4,
      clip: 'm-1',
      engine: 'chirp-next',
    });
    expect(endpoints['suno/music']).toBe(TTAPI_ENDPOINTS['suno/music']);
  });

  it('adds an endpoint like another', () => {
    const endpoints = changedEndpoints(TTAPI_ENDPOINTS, [
      { ...change, name: 'suno/waltz', like: 'suno/cover', path: '/suno/v1/waltz' },
    ]);
    expect(endpoints['suno/waltz']).toMatchObject({ path: '/suno/v1/waltz', answer: 'tracks' });
  });

  it('refuses an endpoint that nobody knows', () => {
    expect(() => changedEndpoints(TTAPI_ENDPOINTS, [{ ...change, name: 'suno/none' }])).toThrow(
      ConfigError,
    );
  });
});

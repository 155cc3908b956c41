import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../config/load-config.js';
import { changedEndpoints } from './ttapi-endpoint-changes.js';
import { TTAPI_ENDPOINTS } from './ttapi-endpoints.js';
import type { EndpointChange } from '../http/endpoint-change.js';
import { nextSongStep, requestBody, stepBody } from './ttapi-request.js';

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
      { name: 'suno/waltz', like: 'suno/cover', path: '/suno/v1/waltz' },
    ]);
    expect(endpoints['suno/waltz']).toMatchObject({ path: '/suno/v1/waltz', answer: 'tracks' });
  });

  it('changes polling path, constants, omitted fields and steps', () => {
    const { 'suno/upload-cover': cover } = changedEndpoints(TTAPI_ENDPOINTS, [
      {
        name: 'suno/upload-cover',
        fetchPath: '/v3/jobs',
        constants: { isStorage: undefined, keep_days: 3 },
        omits: ['variety'],
        steps: [
          { path: '/v3/import', takes: ['audio_url'], constants: { wait: true }, keeps: 'clip' },
        ],
      },
    ]);
    const fields = {
      audio_url: 'https://a.example/a.mp3',
      gen_description: 'a waltz',
      variety: 'max',
    };
    const command = { fields, trackIds: [] };
    const step = nextSongStep(cover!, command, {});
    expect(cover!.fetchPath).toBe('/v3/jobs');
    expect(step).toMatchObject({ path: '/v3/import', keeps: 'clip' });
    expect(stepBody(cover!, step!, command)).toEqual({ audio_url: fields.audio_url, wait: true });
    const memory = { clip: 'c-1' };
    expect(nextSongStep(cover!, command, memory)).toBeUndefined();
    expect(requestBody(cover!, command, memory)).toEqual({
      gpt_description_prompt: 'a waltz',
      keep_days: 3,
      mv: 'chirp-hawk',
      clip: 'c-1',
    });
  });

  it('keeps the format of a family whatever the path', () => {
    const { 'flowmusic/extend': extend } = changedEndpoints(TTAPI_ENDPOINTS, [
      { name: 'flowmusic/extend', path: '/v3/longer' },
    ]);
    const command = { fields: { prompt: 'x', seed: 7 }, trackIds: ['c-1'] };
    expect(requestBody(extend!, command, {})).toMatchObject({ seed: '7', clip_id: 'c-1' });
  });

  it.each<[string, EndpointChange, string]>([
    ['an endpoint', { name: 'suno/none' }, 'no call is named suno/none'],
    [
      'a field',
      { name: 'suno/bpm', names: { musicid: 'x' } },
      'suno/bpm: names: musicid is no field',
    ],
    [
      'a value',
      { name: 'suno/bpm', values: { verison: { v6: 'x' } } },
      'values: verison is no field',
    ],
    ['an omitted field', { name: 'suno/bpm', omits: ['titel'] }, 'omits: titel is no field'],
    [
      'a field of a step',
      { name: 'suno/bpm', steps: [{ path: '/a', takes: ['audio'], keeps: 'id' }] },
      'steps: audio is no field',
    ],
    [
      'the condition of a step',
      { name: 'suno/bpm', steps: [{ path: '/a', takes: [], onlyWith: 'vocals', keeps: 'id' }] },
      'steps: vocals is no field',
    ],
    [
      'a field of an answer',
      { name: 'suno/bpm', answerNames: { tempo: 'x' } },
      'answer_names: tempo is read from no answer',
    ],
  ])('refuses %s that nobody knows, by its name', (_what, change, problem) => {
    expect(() => changedEndpoints(TTAPI_ENDPOINTS, [change])).toThrow(ConfigError);
    expect(() => changedEndpoints(TTAPI_ENDPOINTS, [change])).toThrow(problem);
  });
});

import { describe, expect } from '@jest/globals';
import { ProviderHttp } from '../../src/providers/http/provider-http.js';
import { keyHeader, type ProviderContext } from '../../src/providers/http/provider-context.js';
import type { SongCommand } from '../../src/providers/ports/song.port.js';
import { TTAPI_ENDPOINTS } from '../../src/providers/ttapi/ttapi-endpoints.js';
import { ownTtapiErrors } from '../../src/providers/ttapi/ttapi-ports.js';
import { TtapiSong } from '../../src/providers/ttapi/ttapi-song.adapter.js';
import { describePortContract, describeRequest } from './port-contract.js';
import type { SeenRequest } from '../support/stub-upstream.js';

/** The adapter with one call of the table under the name that the contract uses. */
function songs(access: ProviderContext, call: string): TtapiSong {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'tt-api-key'),
    ownErrors: ownTtapiErrors,
  });
  return new TtapiSong(http, { 'upstream-model': TTAPI_ENDPOINTS[call]! }, access.id);
}

const json = (value: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});
const accepted = json({ status: 'SUCCESS', message: '', data: { job_id: 'job-1' } });
const expectBody = (path: string, body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', path]);
  expect(request.headers['content-type']).toBe('application/json');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};

describePortContract('TTAPI songs: submit', {
  run: (access, context) =>
    songs(access, 'suno/lyrics').submitSong(command({ prompt: 'Hé' }), {}, context),
  good: { ...accepted, result: { state: 'accepted', jobId: 'job-1' } },
  expectRequest: expectBody('/suno/v1/lyrics', { prompt: 'Hé' }),
});

describePortContract('TTAPI songs: a step before the operation', {
  run: (access, context) =>
    songs(access, 'suno/upload-cover').submitSong(
      command({ audio_url: 'https://a.example/a.mp3', gen_description: 'x', custom: false }),
      {},
      context,
    ),
  good: {
    ...json({ status: 'SUCCESS', data: { music_id: 'm-1' } }),
    result: { state: 'step', stepState: { music_id: 'm-1' } },
  },
  expectRequest: expectBody('/suno/v1/upload', {
    audio_url: 'https://a.example/a.mp3',
    is_async: false,
  }),
});

describePortContract('TTAPI songs: ask after a job', {
  run: (access, context) => songs(access, 'suno/music').readSong('job/1', {}, context),
  good: {
    ...json({ status: 'ON_QUEUE', jobId: 'job/1', data: { progress: '40%' } }),
    result: { state: 'pending', progress: 40 },
  },
  expectRequest: (request) => {
    expect([request.method, request.url]).toEqual(['GET', '/suno/v2/fetch?jobId=job%2F1']);
  },
});

describe('TTAPI songs: what each operation sends', () => {
  const created = { isStorage: true, mv: 'chirp-hawk' };
  const free = { custom: false, instrumental: false, max_mode: false };
  const custom = { custom: true, instrumental: false, max_mode: true, prompt: 'la' };

  const sends: readonly [call: string, SongCommand, path: string, body: object, memory?: object][] =
    [
      [
        'suno/music',
        command({ ...free, prompt: 'a song', variety: 'max' }),
        '/suno/v1/music',
        {
          ...created,
          custom: false,
          instrumental: false,
          gpt_description_prompt: 'a song',
          variety: 4,
        },
      ],
      [
        'suno/music',
        command({
          ...custom,
          style: 'rock',
          version: 'v6-mini',
          vocal_gender: 'female',
          duration: 60,
        }),
        '/suno/v1/music',
        {
          ...created,
          mv: 'chirp-goose',
          custom: true,
          instrumental: false,
          prompt: 'la',
          max_mode: true,
          tags: 'rock',
          vocal_gender: 'Female',
          duration: 60,
        },
      ],
      [
        'suno/music',
        { ...command({ ...free, prompt: 'x' }), customModelId: 'chirp-custom:1', personaId: 'p-1' },
        '/suno/v1/music',
        {
          isStorage: true,
          mv: 'chirp-custom:1',
          persona_id: 'p-1',
          custom: false,
          instrumental: false,
          gpt_description_prompt: 'x',
        },
      ],
      [
        'suno/extend',
        command({ ...free, continue_at: 30, gen_description: 'x' }, 'clip-2'),
        '/suno/v1/extend',
        {
          ...created,
          custom: false,
          instrumental: false,
          music_id: 'clip-2',
          continue_at: 30,
          gpt_description_prompt: 'x',
        },
      ],
      [
        'suno/mashup',
        command({ ...free, gen_description: 'x' }, 'clip-2', 'clip-1'),
        '/suno/v1/mashup',
        {
          ...created,
          custom: false,
          instrumental: false,
          music_ids: ['clip-2', 'clip-1'],
          gpt_description_prompt: 'x',
        },
      ],
      [
        'suno/upload-cover',
        command({ ...custom, audio_url: 'https://a.example/a.mp3', tags: 'rock' }),
        '/suno/v1/cover',
        {
          ...created,
          custom: true,
          instrumental: false,
          prompt: 'la',
          max_mode: true,
          tags: 'rock',
          music_id: 'm-1',
        },
        { music_id: 'm-1' },
      ],
      [
        'suno/persona',
        command({ name: 'Ann', description: 'low', style: 'jazz' }, 'clip-1'),
        '/suno/v1/persona',
        { name: 'Ann', describe: 'low', styles: 'jazz', music_id: 'clip-1' },
      ],
      [
        'suno/persona',
        command({ name: 'Ann', vocal_start_s: 1, vocal_end_s: 9 }, 'clip-1'),
        '/suno/v1/vox',
        { vocal_start_s: 1, vocal_end_s: 9, music_id: 'clip-1' },
      ],
      [
        'suno/persona',
        command({ name: 'Ann', vocal_start_s: 1, vocal_end_s: 9 }, 'clip-1'),
        '/suno/v1/persona',
        { name: 'Ann', vocal_start_s: 1, vocal_end_s: 9, music_id: 'clip-1', vox_audio_id: 'v-1' },
        { vox_audio_id: 'v-1' },
      ],
      [
        'suno/fade-in',
        { ...command({ fade_time_s: 3 }, 'clip-1'), sourceTitle: 'Rain' },
        '/suno/v1/fade-in',
        { fade_time_s: 3, music_id: 'clip-1', title: 'Rain' },
      ],
      [
        'suno/replace-section',
        command({ start_s: 10, end_s: 20, infill_lyrics: 'la', max_mode: false }, 'clip-1'),
        '/suno/v1/replace-section',
        {
          ...created,
          infill_start_s: 10,
          infill_end_s: 20,
          infill_lyrics: 'la',
          music_id: 'clip-1',
        },
      ],
      [
        'suno/crop',
        command({ start_s: 10, end_s: 20 }, 'clip-1'),
        '/suno/v1/crop',
        { crop_start_s: 10, crop_end_s: 20, music_id: 'clip-1' },
      ],
      [
        'suno/sounds',
        command({ prompt: 'a door', type: 'loop', bpm: 90, key: 'Am' }),
        '/suno/v1/sounds',
        { ...created, sound: 'a door', type: 'loop', bpm: 90, key: 'Am' },
      ],
      [
        'flowmusic/generations',
        command({ prompt: 'jazz', lyrics: 'la', instrumental: true, seed: 7, duration: 90 }),
        '/flowmusic/v1/generations',
        { model: 'Lyria 3 Pro', sound_prompt: 'Instrumental. jazz', seed: '7', length: 90 },
      ],
      [
        'flowmusic/extend',
        command({ continue_at: 9, duration: 60, instruction: 'slow' }, 'clip-1'),
        '/flowmusic/v1/extend',
        { clip_id: 'clip-1', extend_from_s: 9, extend_s: 60, instruction: 'slow' },
      ],
      [
        'flowmusic/video',
        command({ template: 'simple' }, 'clip-1'),
        '/flowmusic/v1/video',
        { clip_id: 'clip-1', preset: 'simple' },
      ],
    ];
  for (const [index, [call, order, path, body, memory]] of sends.entries()) {
    describeRequest(`${index}: ${call} to ${path}`, {
      run: async (access, context) => {
        await songs(access, call)
          .submitSong(order, (memory ?? {}) as Record<string, unknown>, context)
          .catch(() => undefined);
        return path;
      },
      good: { ...accepted, result: path },
      expectRequest: expectBody(path, body),
    });
  }
});

function command(fields: SongCommand['fields'], ...trackIds: string[]): SongCommand {
  return { fields, trackIds };
}

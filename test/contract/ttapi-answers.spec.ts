import { describe, expect, it } from '@jest/globals';
import {
  RESPONSE_READERS,
  type ResponseReader,
} from '../../src/providers/ttapi/ttapi-response-readers.js';
import type { SongResult } from '../../src/providers/ports/song.port.js';
import { ownTtapiErrors } from '../../src/providers/ttapi/ttapi-ports.js';

const url = 'https://cdn.example/a';
const music = {
  musicId: 'm1',
  title: 'Rain',
  prompt: 'la',
  tags: 'rock',
  audioUrl: `${url}.mp3`,
  imageUrl: `${url}.png`,
  imageLargeUrl: `${url}-large.png`,
  videoUrl: `${url}.mp4`,
  duration: '211.44',
};
const track = {
  id: 'm1',
  title: 'Rain',
  lyrics: 'la',
  tags: 'rock',
  audioUrl: `${url}.mp3`,
  wavUrl: undefined,
  imageUrl: `${url}-large.png`,
  durationSeconds: 211.44,
  status: 'complete',
};
const read = (reader: ResponseReader, data: object, fields = {}) =>
  RESPONSE_READERS[reader](data as Record<string, unknown>, fields);

describe('answers of TTAPI', () => {
  it.each<[string, ResponseReader, object, object, object?]>([
    ['tracks', 'tracks', { musics: [music] }, { tracks: [track] }],
    [
      'one track of two, the other without audio',
      'tracks',
      { musics: [{ ...music, audioUrl: '' }, music] },
      { tracks: [track] },
    ],
    [
      'an upload that names its track alone',
      'upload',
      { music_id: 'm1' },
      { tracks: [{ id: 'm1', title: 'Mine' }] },
      { title: 'Mine' },
    ],
    ['an upload that lists its track', 'upload', { musics: [music] }, { tracks: [track] }],
    [
      'lyrics',
      'lyrics',
      { lyrics: [{ text: 'la', title: 'Rain' }] },
      { lyrics: [{ text: 'la', title: 'Rain' }] },
    ],
    [
      'lyrics as one text',
      'lyrics',
      { lyrics: 'la', title: 'Rain' },
      { lyrics: [{ text: 'la', title: 'Rain' }] },
    ],
    ['a style', 'style', { upsampled_tags: 'rock, loud' }, { text: 'rock, loud' }],
    [
      'a custom model',
      'customModel',
      { custom_model: { id: 'chirp-custom:1', name: 'Mine' } },
      { customModel: { id: 'chirp-custom:1', name: 'Mine' } },
    ],
    ['a persona', 'persona', { persona_id: 'p1' }, { persona: { id: 'p1' } }],
    [
      'a voice, its flat fields alone',
      'voice',
      { voice: { id: 'v1', seconds: 12, parts: [] } },
      { voice: { id: 'v1', seconds: 12 } },
    ],
    [
      'a tempo',
      'bpm',
      { bpm: { average: 120.5, min: 118 } },
      { bpm: { average: 120.5, min: 118 } },
    ],
    ['a tempo as a number', 'bpm', { bpm: 120 }, { bpm: { average: 120 } }],
    [
      'timed lyrics',
      'timedLyrics',
      { alignment: [{ word: 'la', start_s: 1, end_s: 2, success: false, p_align: 1 }] },
      { timedLyrics: [{ text: 'la', startSeconds: 1, endSeconds: 2, isAligned: false }] },
    ],
    ['timed lyrics under another name', 'timedLyrics', { aligned_words: [] }, { timedLyrics: [] }],
    [
      'MIDI',
      'midi',
      {
        state: 'complete',
        instruments: [{ name: 'piano', notes: [{ pitch: 60, start: 0, end: 1, velocity: 0.5 }] }],
      },
      {
        midi: {
          state: 'complete',
          instruments: [{ name: 'piano', notes: [{ pitch: 60, start: 0, end: 1, velocity: 0.5 }] }],
        },
      },
    ],
    [
      'a video',
      'videos',
      { videos: [`${url}.mp4`] },
      { videos: [`${url}.mp4`], tracks: [{ videoUrl: `${url}.mp4`, mimeType: 'video/mp4' }] },
    ],
    [
      'a video that is an object',
      'videos',
      { videoUrl: `${url}.mp4` },
      { videos: [`${url}.mp4`], tracks: [{ videoUrl: `${url}.mp4`, mimeType: 'video/mp4' }] },
    ],
    [
      'files in the order asked for',
      'files',
      {
        files: [
          { format: 'mp3', url: `${url}.mp3` },
          { format: 'wav', url: `${url}.wav` },
        ],
      },
      {
        files: [
          { format: 'wav', url: `${url}.wav` },
          { format: 'mp3', url: `${url}.mp3` },
        ],
      },
      { formats: ['wav', 'mp3'] },
    ],
    [
      'one clip',
      'clip',
      {
        clips: [
          {
            clip_id: 'c1',
            title: 'Rain',
            audio_url: `${url}.mp3`,
            lyrics_timing_markers: [{ text: 'la' }, { text: 'lo' }],
          },
          { clip_id: 'c2', audio_url: `${url}.mp3` },
        ],
      },
      {
        tracks: [
          { id: 'c1', title: 'Rain', audioUrl: `${url}.mp3`, lyrics: 'la\nlo', status: 'complete' },
        ],
      },
    ],
    [
      'an archive',
      'archive',
      { file_url: `${url}.zip`, size_bytes: 9 },
      {
        tracks: [
          { fileUrl: `${url}.zip`, format: 'zip', mimeType: 'application/zip', sizeBytes: 9 },
        ],
      },
    ],
    [
      'a file of a clip',
      'clipFile',
      { files: [{ format: 'wav', url: `${url}.wav` }], size_bytes: 9 },
      {
        files: [{ format: 'wav', url: `${url}.wav` }],
        tracks: [{ wavUrl: `${url}.wav`, format: 'wav', mimeType: 'audio/wav', sizeBytes: 9 }],
      },
      { format: 'wav' },
    ],
  ])('hold %s', (_what, reader, data, result, fields = {}) => {
    expect(read(reader, data, fields)).toEqual(result);
  });

  it.each<[string, ResponseReader, object, object?]>([
    ['no track with audio', 'tracks', { musics: [{ ...music, audioUrl: 'javascript:1' }] }],
    ['no list of tracks', 'tracks', { musics: 'none' }],
    ['an upload without an id', 'upload', { music_id: '' }],
    ['no words', 'lyrics', { lyrics: [{ title: 'Rain' }] }],
    ['no text', 'style', { upsampled_tags: 5 }],
    ['a model without a name', 'customModel', { custom_model: { id: 'x' } }],
    ['no persona', 'persona', { persona_id: null }],
    ['a voice of nothing', 'voice', { voice: {} }],
    ['a tempo that is no number', 'bpm', { bpm: { average: 'fast' } }],
    ['words without times', 'timedLyrics', { alignment: [{ word: 'la' }] }],
    ['no instrument', 'midi', { state: 'complete', instruments: [] }],
    ['no video', 'videos', { videos: [] }],
    [
      'a format that is missing',
      'files',
      { files: [{ format: 'mp3', url }] },
      { formats: ['mp3', 'wav'] },
    ],
    ['a clip without audio', 'clip', { clips: [{ clip_id: 'c1' }] }],
    ['no archive', 'archive', {}],
    ['the other format', 'clipFile', { files: [{ format: 'mp3', url }] }, { format: 'wav' }],
  ])('are unreadable with %s', (_what, reader, data, fields = {}) => {
    expect(read(reader, data, fields)).toBeUndefined();
  });
});

describe('an answer of TTAPI with more than anybody made', () => {
  const many = Array.from({ length: 30_000 }, (_none, index) => index);
  const countOf = (part: unknown): number => Object.keys(part as object).length;

  it.each<[string, ResponseReader, object, (song?: SongResult) => unknown]>([
    ['tracks', 'tracks', { musics: many.map(() => music) }, (song) => song?.tracks],
    ['texts', 'lyrics', { lyrics: many.map(() => ({ text: 'la' })) }, (song) => song?.lyrics],
    ['videos', 'videos', { videos: many.map((at) => `${url}/${at}`) }, (song) => song?.videos],
    [
      'facts of a voice',
      'voice',
      { voice: Object.fromEntries(many.map((at) => [`k${at}`, at])) },
      (song) => song?.voice,
    ],
    [
      'instruments',
      'midi',
      { instruments: many.map(() => ({ name: 'drum' })) },
      (song) => song?.midi?.instruments,
    ],
  ])('is read up to 20,000 %s', (_what, reader, data, partOf) => {
    const song = read(reader, data);
    expect(countOf(partOf(song === 'not_generated' ? undefined : song))).toBe(20_000);
  });
});

describe('faults of TTAPI', () => {
  it('distinguishes a full queue, a rejection and a timeout of the provider', () => {
    const refusal = { status: 'FAILED', message: 'secret words' };
    expect(ownTtapiErrors(499, refusal)).toEqual({
      code: 'queue_exhausted',
      kind: 'rate_limited',
    });
    expect(ownTtapiErrors(500, refusal)).toEqual({ code: 'FAILED', message: 'secret words' });
    expect(ownTtapiErrors(504, refusal)).toBeUndefined();
    expect(ownTtapiErrors(500, '<html>')).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  type ResponseReader,
  readResponse,
} from '../../src/providers/ttapi/ttapi-response-readers.js';

const url = 'https://cdn.example/a';
const music = { musicId: 'm1', title: 'Rain', audioUrl: `${url}.mp3`, duration: '12.5' };
const clip = { clip_id: 'c1', audio_url: `${url}.mp3` };
const none = 'https://cdn1.example/None.mp3';
const read = (reader: ResponseReader, data: object, fields = {}) =>
  readResponse(reader, data as Record<string, unknown>, fields);

describe('an answer of success whose parts say that they failed', () => {
  it.each<[string, ResponseReader, object, object?]>([
    ['tracks of status error', 'tracks', { musics: [{ ...music, status: 'error' }] }],
    ['tracks of status FAILED', 'tracks', { musics: [{ ...music, status: 'FAILED' }] }],
    ['tracks at None.mp3', 'tracks', { musics: [{ ...music, audioUrl: none }] }],
    [
      'tracks without a URL',
      'tracks',
      { musics: [{ ...music, audioUrl: '' }, { audioUrl: null }] },
    ],
    [
      'tracks whose metadata has an error',
      'tracks',
      { musics: [{ ...music, metadata: { error_type: 'moderation_failure' } }] },
    ],
    ['an upload of status error', 'upload', { musics: [{ ...music, status: 'error' }] }],
    ['clips of state failed', 'clip', { clips: [{ ...clip, state: 'failed' }] }],
    [
      'clips at null.wav',
      'clip',
      { clips: [{ ...clip, audio_url: `https://a.example/null.wav` }] },
    ],
    ['lyrics of status error', 'lyrics', { lyrics: [{ text: 'no', status: 'error' }] }],
    ['lyrics without a word', 'lyrics', { lyrics: [{ text: '', title: '' }] }],
    ['a video at None.mp4', 'videos', { videos: ['https://a.example/x/None.mp4'] }],
    ['a video of status error', 'videos', { videos: [{ url: `${url}.mp4`, status: 'error' }] }],
    ['an archive at None.zip', 'archive', { file_url: 'https://a.example/None.zip' }],
    [
      'a file of status error',
      'files',
      { files: [{ format: 'mp3', url, status: 'error' }] },
      { formats: ['mp3'] },
    ],
    [
      'a file at None.wav',
      'clipFile',
      { files: [{ format: 'wav', url: none }] },
      { format: 'wav' },
    ],
    ['an empty style', 'style', { upsampled_tags: '' }],
    ['a voice of status failed', 'voice', { voice: { id: 'v1', status: 'failed' } }],
    ['a persona with an error', 'persona', { persona: { id: 'p1', error: 'no singing' } }],
    [
      'a custom model of status failed',
      'customModel',
      { custom_model: { id: 'x', name: 'y', status: 'failed' } },
    ],
    [
      'MIDI of state error',
      'midi',
      { state: 'error', instruments: [{ name: 'piano', notes: [] }] },
    ],
    ['a tempo with an error', 'bpm', { bpm: 120, error: { code: 1 } }],
  ])('is not made: %s', (...[, reader, data, fields]) => {
    expect(read(reader, data, fields)).toBe('not_generated');
  });

  it.each<[string, ResponseReader, object]>([
    [
      'a track',
      'tracks',
      { musics: [{ ...music, status: 'error' }, { ...music, audioUrl: none }, music] },
    ],
    ['a clip', 'clip', { clips: [{ ...clip, status: 'error' }, clip] }],
  ])('is made as far as it says so: %s', (_what, reader, data) => {
    expect(read(reader, data)).toMatchObject({ tracks: [{ audioUrl: `${url}.mp3` }] });
    expect((read(reader, data) as { tracks: unknown[] }).tracks).toHaveLength(1);
  });

  it('is made where fields of errors are there and empty', () => {
    const fine = { ...music, status: 'complete', error: null, error_message: '', metadata: {} };
    expect(read('tracks', { musics: [fine], error: null })).toMatchObject({
      tracks: [{ id: 'm1' }],
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import type { SongResult, SongTrack } from '../providers/ports/song.port.js';
import { viewSongResult } from './song-result.view.js';

const url = (name: string) => `https://cdn.example/${name}`;

/** Every fact of a track, as the provider's adapter tells it, and as clients see it. */
const FACTS: readonly (readonly [keyof SongTrack, string | number, string])[] = [
  ['id', 'm1', 'id'],
  ['audioUrl', url('1.mp3'), 'audio_url'],
  ['wavUrl', url('1.wav'), 'wav_url'],
  ['imageUrl', url('1.png'), 'image_url'],
  ['videoUrl', url('1.mp4'), 'video_url'],
  ['fileUrl', url('1.zip'), 'file_url'],
  ['durationSeconds', 211.44, 'duration_seconds'],
  ['title', 'Rain', 'title'],
  ['lyrics', 'la', 'lyrics'],
  ['tags', 'rock', 'tags'],
  ['status', 'complete', 'status'],
  ['format', 'wav', 'format'],
  ['mimeType', 'audio/wav', 'mime_type'],
  ['sizeBytes', 9, 'size_bytes'],
];

const seen = (result: SongResult): unknown => JSON.parse(JSON.stringify(viewSongResult(result)));

describe('the tracks of a result', () => {
  it('show every fact that is told, and no other (SONG-71, SONG-72, SONG-73, SONG-74, SONG-75, SONG-76, SONG-77, SONG-78, SONG-79, SONG-80, SONG-81, SONG-82, SONG-83)', () => {
    const whole = Object.fromEntries(FACTS.map(([name, value]) => [name, value])) as SongTrack;
    expect(seen({ tracks: [whole] })).toMatchObject({
      tracks: [{ index: 1, ...Object.fromEntries(FACTS.map(([, value, name]) => [name, value])) }],
    });
    expect(seen({ tracks: [{}] })).toEqual({ urls: [], tracks: [{ index: 1 }] });
    for (const [name, value, field] of FACTS) {
      const untold = Object.fromEntries(FACTS.map(([other]) => [other, undefined]));
      const track = { ...untold, [name]: value } as SongTrack;
      const { tracks } = viewSongResult({ tracks: [track] });
      expect(tracks).toStrictEqual([{ index: 1, [field]: value }]);
    }
  });

  it('stay in their order and are counted from 1 (SONG-59, SONG-71, SONG-85)', () => {
    const tracks = ['c', 'a', 'b'].map((id) => ({ id }));
    expect(seen({ tracks })).toEqual({
      urls: [],
      tracks: [
        { index: 1, id: 'c' },
        { index: 2, id: 'a' },
        { index: 3, id: 'b' },
      ],
    });
  });
});

describe('the URLs of a result', () => {
  it('are all that were delivered, the main files first, without cover art (SONG-58)', () => {
    const track = (name: string): SongTrack => ({
      imageUrl: url(`${name}.png`),
      videoUrl: url(`${name}.mp4`),
      fileUrl: url(`${name}.zip`),
      wavUrl: url(`${name}.wav`),
      audioUrl: url(`${name}.mp3`),
    });
    const { urls } = viewSongResult({ tracks: [track('1'), track('2')] });
    expect(urls).toEqual(
      ['1.mp3', '2.mp3', '1.wav', '1.zip', '1.mp4', '2.wav', '2.zip', '2.mp4'].map(url),
    );
  });

  it('begin with videos and files, and name none twice (SONG-58, SONG-61, SONG-62)', () => {
    const video = { videos: [url('a.mp4')], tracks: [{ videoUrl: url('a.mp4') }] };
    expect(viewSongResult(video).urls).toEqual([url('a.mp4')]);
    const files = [
      { format: 'wav', url: url('a.wav') },
      { format: 'mp3', url: url('a.mp3') },
    ];
    const download = { files, tracks: [{ wavUrl: url('a.wav'), imageUrl: url('a.png') }] };
    expect(seen(download)).toMatchObject({ urls: [url('a.wav'), url('a.mp3')], files });
  });
});

describe('the other fields of a result', () => {
  it('are those of the operation, as far as the provider reports them (SONG-60, SONG-66, SONG-70)', () => {
    const words = { text: 'la', title: undefined, tags: undefined };
    expect(
      viewSongResult({ lyrics: [words, { ...words, title: 'Rain', tags: 'rock' }] }),
    ).toStrictEqual({
      urls: [],
      lyrics: [{ text: 'la' }, { text: 'la', title: 'Rain', tags: 'rock' }],
    });
    const bpm = { average: 120.5, min: undefined, max: undefined };
    expect(viewSongResult({ bpm })).toStrictEqual({ urls: [], bpm: { average: 120.5 } });
    expect(viewSongResult({ bpm: { average: 120, min: 118, max: 121 } })).toStrictEqual({
      urls: [],
      bpm: { average: 120, min: 118, max: 121 },
    });
  });

  it('have the names that are promised (SONG-63, SONG-64, SONG-65, SONG-67, SONG-68, SONG-69)', () => {
    const midi = {
      state: 'complete',
      instruments: [{ name: 'piano', notes: [{ pitch: 60, start: 0, end: 1, velocity: 0.5 }] }],
    };
    const word = { text: 'la', startSeconds: 1, endSeconds: 2.5, isAligned: false };
    const told = { text: 'rock, loud', persona: { id: 'p1' }, midi, voice: { id: 'v1', age: 5 } };
    expect(
      viewSongResult({ ...told, customModel: { id: 'c1', name: 'Mine' }, timedLyrics: [word] }),
    ).toStrictEqual({
      urls: [],
      ...told,
      custom_model: { id: 'c1', name: 'Mine' },
      timed_lyrics: [{ text: 'la', start_s: 1, end_s: 2.5, success: false }],
    });
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SongHarness } from '../support/song-harness.js';
import { StubbedSongs } from '../support/stubbed-songs.js';

const PATIENCE_MS = 180_000;

let songs: StubbedSongs;
let harness: SongHarness;
let answers: StubbedSongs['answers'];

beforeAll(async () => {
  songs = await StubbedSongs.start();
  ({ harness, answers } = songs);
}, PATIENCE_MS);
afterEach(() => {
  songs.clear();
});
afterAll(() => songs.stop());

const AUDIO = 'https://example.com/a.mp3';
const MUSIC = { model: 'song-music', prompt: 'a song' };
const job = { body: { status: 'SUCCESS', data: { job_id: 'job-1' } } };
const done = (data: object) => ({ body: { status: 'SUCCESS', data } });
const track = (audioUrl: string) => ({ musicId: 'm-2', title: 'Rain', audioUrl, duration: '12.5' });

describe('a song whose tracks say that they failed', () => {
  const NONE = 'https://cdn1.example.com/None.mp3';

  it.each<[string, object[]]>([
    ['by their status', [{ ...track(AUDIO), status: 'error' }]],
    ['by the name of their file', [track(NONE), track(NONE)]],
    ['by an empty URL', [track('')]],
  ])('%s is a failure and free', async (_how, musics) => {
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', done({ musics }));
    const before = await harness.gateway.balance(harness.account.accountId);
    const { id } = await harness.submit(MUSIC);
    await songs.step(2);
    const song = await harness.read(id);
    expect(song).toMatchObject({ status: 'failed', error: { code: 'provider_task_failed' } });
    const after = await harness.gateway.balance(harness.account.accountId);
    expect([after.available, after.held]).toEqual([before.available, before.held]);
  });

  it('is delivered with the tracks that were made', async () => {
    const musics = [{ ...track(AUDIO), status: 'error' }, track(AUDIO), track(NONE)];
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', done({ musics }));
    const { id } = await harness.submit(MUSIC);
    await songs.step(2);
    const song = await harness.read(id);
    expect(song).toMatchObject({ status: 'succeeded', charged_microusd: '75000' });
    expect(song.result.urls).toEqual([AUDIO]);
  });
});

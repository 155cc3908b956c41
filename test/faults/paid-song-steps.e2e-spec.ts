import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestAccount } from '../support/gateway.js';
import type { OwnSongHarness } from '../support/song-harness.js';
import { RecordRetention } from '../../src/billing/retention/record-retention.js';
import { StubbedSongs } from '../support/stubbed-songs.js';

const PATIENCE_MS = 180_000;

let songs: StubbedSongs;
let harness: OwnSongHarness;
let answers: StubbedSongs['answers'];

beforeAll(async () => {
  songs = await StubbedSongs.start();
  ({ harness, answers } = songs);
}, PATIENCE_MS);
afterEach(() => {
  songs.clear();
});
afterAll(() => songs.stop());

const UPLOAD = '/suno/v1/upload';
const COVER = '/suno/v1/cover';
const coverOf = (name: string, description = 'as a waltz') => ({
  model: 'song-upload-cover',
  audio_url: `https://example.com/${name}.mp3`,
  gen_description: description,
});

/** A song whose upload is taken and whose second step is refused. */
async function refused(order: object, account: TestAccount = harness.account): Promise<void> {
  answers.set(UPLOAD, { body: { status: 'SUCCESS', data: { music_id: 'm-1' } } });
  answers.set(COVER, { status: 400, body: { status: 'FAILED', message: 'refused' } });
  const { id } = await harness.submit(order, {}, account);
  await songs.step(3);
  expect(await harness.read(id, account)).toMatchObject({
    status: 'failed',
    charged_microusd: null,
  });
}

const sent = () => [songs.asked(UPLOAD), songs.asked(COVER)];

describe('the first step of a song whose second step was refused', () => {
  it('is not paid again for the same recording of the account', async () => {
    await refused(coverOf('same'));
    expect(sent()).toEqual([1, 1]);
    await refused(coverOf('same'));
    await refused(coverOf('same', 'as a tango'));
    expect(sent()).toEqual([1, 3]);
    const covers = songs.stub.seen.filter(({ url }) => url === COVER);
    for (const { body } of covers) {
      expect(JSON.parse(String(body))).toMatchObject({ music_id: 'm-1' });
    }
    expect((await harness.gateway.balance(harness.account.accountId)).held).toBe(0n);
  });

  it('serves a later song that succeeds', async () => {
    await refused(coverOf('later'));
    answers.set(COVER, { body: { status: 'SUCCESS', data: { job_id: 'job-1' } } });
    const musics = [
      { musicId: 'm-2', title: 'Rain', audioUrl: 'https://example.com/made.mp3', duration: '12.5' },
    ];
    answers.set('/suno/v2/fetch', { body: { status: 'SUCCESS', data: { musics } } });
    const { id } = await harness.submit(coverOf('later'));
    await songs.step(3);
    expect(await harness.read(id)).toMatchObject({
      status: 'succeeded',
      charged_microusd: '75000',
    });
    expect(sent()).toEqual([1, 2]);
  });

  it('is sent for another recording, and for another account', async () => {
    await refused(coverOf('one'));
    await refused(coverOf('two'));
    await refused(coverOf('one'), await harness.gateway.account());
    expect(sent()).toEqual([3, 3]);
  });

  it('is sent again after a day, when the row is no longer used and is deleted', async () => {
    const { dataSource, app } = harness.gateway;
    await refused(coverOf('day'));
    await dataSource.query(`UPDATE kept_song_step SET created_at = now() - interval '25 hours'`);
    await refused(coverOf('day'));
    expect(sent()).toEqual([2, 2]);
    await app.get(RecordRetention).tick(undefined);
    expect(await dataSource.query(`SELECT memory FROM kept_song_step`)).toEqual([
      { memory: { music_id: 'm-1' } },
    ]);
  });

  it('is kept for the newest hundred inputs of an account', async () => {
    const { dataSource } = harness.gateway;
    const { accountId } = harness.account;
    await dataSource.query(
      `INSERT INTO kept_song_step SELECT $1, 'upstream', n::text, '{}', now() - interval '1 hour'
         FROM generate_series(1, 150) n`,
      [accountId],
    );
    await refused(coverOf('newest'));
    await refused(coverOf('newest'));
    expect(sent()).toEqual([1, 2]);
    const rows = await dataSource.query<{ n: number }[]>(
      `SELECT count(*)::int AS n FROM kept_song_step WHERE account_id = $1`,
      [accountId],
    );
    expect(rows).toEqual([{ n: 100 }]);
  });
});

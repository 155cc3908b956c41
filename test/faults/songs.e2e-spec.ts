import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { startGateway } from '../../src/bootstrap/start-gateway.js';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import type { OwnSongHarness } from '../support/song-harness.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { StubbedSongs } from '../support/stubbed-songs.js';

const PATIENCE_MS = 180_000;

let songs: StubbedSongs;
let harness: OwnSongHarness;
let answers: StubbedSongs['answers'];
let stub: StubUpstream;

beforeAll(async () => {
  songs = await StubbedSongs.start();
  ({ harness, answers, stub } = songs);
}, PATIENCE_MS);
afterEach(() => {
  songs.clear();
});
afterAll(() => songs.stop());

const AUDIO = 'https://example.com/a.mp3';
/** A cover of a recording that no other test has uploaded. */
const coverOf = (name: string) => ({
  model: 'song-upload-cover',
  audio_url: `https://example.com/${name}.mp3`,
  gen_description: 'as a waltz',
});
const MUSIC = { model: 'song-music', prompt: 'a song' };
const job = { body: { status: 'SUCCESS', data: { job_id: 'job-1' } } };
const uploaded = { body: { status: 'SUCCESS', data: { music_id: 'm-1' } } };
const done = (data: object) => ({ body: { status: 'SUCCESS', data } });
const track = (audioUrl: string) => ({ musicId: 'm-2', title: 'Rain', audioUrl, duration: '12.5' });
const asked = (path: string) => songs.asked(path);
const step: StubbedSongs['step'] = (...how) => songs.step(...how);
const heldNow = async () => (await harness.gateway.balance(harness.account.accountId)).held;

describe('a song made in two steps', () => {
  it(
    'goes on after a crash between them without paying the first one twice',
    async () => {
      answers.set('/suno/v1/upload', uploaded).set('/suno/v1/cover', job);
      answers.set('/suno/v2/fetch', done({ musics: [track(AUDIO)] }));
      const { id } = await harness.submit(coverOf('crash'));
      await step();
      expect([asked('/suno/v1/upload'), asked('/suno/v1/cover')]).toEqual([1, 0]);

      const other = await startGateway(harness.gateway.config, pino({ level: 'silent' }));
      await step(3, other.app);
      await other.stop();

      expect([asked('/suno/v1/upload'), asked('/suno/v1/cover')]).toEqual([1, 1]);
      const cover = stub.seen.find(({ url }) => url === '/suno/v1/cover');
      expect(JSON.parse(String(cover?.body))).toMatchObject({ music_id: 'm-1' });
      expect(await harness.read(id)).toMatchObject({
        status: 'succeeded',
        charged_microusd: '75000',
      });
    },
    PATIENCE_MS,
  );

  it('is never sent again when the answer to the first step is lost', async () => {
    answers.set('/suno/v1/upload', { body: 'reset' });
    const { id } = await harness.submit(coverOf('lost'));
    await step(3);
    expect(asked('/suno/v1/upload')).toBe(1);
    expect(await harness.read(id)).toMatchObject({ status: 'reconciliation_required' });
    expect(await heldNow()).toBe(75_000n);
  });

  it('fails and costs nothing when the second step is refused', async () => {
    const before = await harness.gateway.balance(harness.account.accountId);
    answers.set('/suno/v1/upload', uploaded);
    answers.set('/suno/v1/cover', { status: 400, body: { status: 'FAILED', message: 'secret' } });
    const { id } = await harness.submit(coverOf('refused'));
    await step(3);
    const task = await harness.read(id);
    expect(task).toMatchObject({
      status: 'failed',
      charged_microusd: null,
      error: { code: 'provider_task_failed' },
    });
    expect(JSON.stringify(task)).not.toContain('secret');
    expect(await harness.gateway.balance(harness.account.accountId)).toEqual(before);
  });
});

describe('a provider', () => {
  it('that makes one track of two has made a song', async () => {
    answers.set('/suno/v1/music', job);
    answers.set('/suno/v2/fetch', done({ musics: [track(''), track(AUDIO)] }));
    const { id } = await harness.submit(MUSIC);
    await step(2);
    const task = await harness.read(id);
    expect(task).toMatchObject({ status: 'succeeded', charged_microusd: '75000' });
    expect(task.result.tracks).toEqual([expect.objectContaining({ index: 1, audio_url: AUDIO })]);
  });

  it('whose files are gone has made them all the same: nothing is fetched (LIMIT-14, G-78)', async () => {
    const files = await StubUpstream.start();
    const url = `${files.url}/a.mp3`;
    answers.set('/suno/v1/music', job);
    answers.set('/suno/v2/fetch', done({ musics: [track(url)] }));
    const { id } = await harness.submit(MUSIC);
    await step(3);
    expect(await harness.read(id)).toMatchObject({
      status: 'succeeded',
      result: { urls: [url] },
    });
    expect(files.seen).toEqual([]);
    await files.stop();
    expect(await harness.read(id)).toMatchObject({
      status: 'succeeded',
      result: { urls: [url] },
    });
  });

  it('that reports success without a song is not believed, and the price stays held', async () => {
    const held = await heldNow();
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', done({ musics: [] }));
    const { id } = await harness.submit(MUSIC);
    await step(7);
    expect(await harness.read(id)).toMatchObject({
      status: 'reconciliation_required',
      result: null,
    });
    expect(await heldNow()).toBe(held + 75_000n);
  });

  it('that reports failure costs nothing', async () => {
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', { body: { status: 'FAILED' } });
    const { id } = await harness.submit(MUSIC);
    await step(2);
    expect(await harness.read(id)).toMatchObject({ status: 'failed', charged_microusd: null });
  });

  it('that answers at once ends the task at once', async () => {
    answers.set('/suno/v1/upsample-tags', done({ upsampled_tags: 'pop, dreamy' }));
    const { id } = await harness.submit({ model: 'song-style-boost', tags: 'pop' });
    await step();
    expect(await harness.read(id)).toMatchObject({
      status: 'succeeded',
      result: { urls: [], text: 'pop, dreamy' },
      charged_microusd: '6000',
    });
    expect(asked('/suno/v1/upsample-tags')).toBe(1);
  });

  it('whose queue is full gets the request again, one that rejects does not', async () => {
    answers.set('/suno/v1/music', { status: 499, body: { status: 'FAILED' } });
    const { id } = await harness.submit(MUSIC);
    await step();
    expect(await harness.read(id)).toMatchObject({ status: 'queued' });
    answers.set('/suno/v1/music', { status: 500, body: { status: 'FAILED' } });
    await step();
    expect(await harness.read(id)).toMatchObject({ status: 'failed', charged_microusd: null });
    expect(asked('/suno/v1/music')).toBe(2);
  });
});

describe('a follow-up', () => {
  it('goes to the provider that made the source, or nowhere', async () => {
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', done({ musics: [track(AUDIO)] }));
    const { id } = await harness.submit(MUSIC);
    await step(2);
    await harness.gateway.dataSource.query(
      `UPDATE task SET provider_base_url = 'https://elsewhere.example'`,
    );
    expect(await harness.refused({ model: 'song-bpm', source_task_id: id })).toMatchObject({
      status: 503,
      code: 'no_eligible_route',
      param: 'source_task_id',
    });
  });

  it('of a source that was made where no route of its model leads is refused by its field', async () => {
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', done({ musics: [track(AUDIO)] }));
    const { id } = await harness.submit(MUSIC);
    await step(2);
    await harness.gateway.dataSource.query(`UPDATE task SET provider = 'elsewhere'`);
    expect(await harness.refused({ model: 'song-bpm', source_task_id: id })).toMatchObject({
      status: 400,
      code: 'invalid_music_request',
      param: 'source_task_id',
      message: 'source_task_id was made where no route of this model leads.',
    });
  });

  /** A song, and a follow-up of it that nobody has begun yet. */
  async function queued(): Promise<{ source: string; id: string }> {
    answers.set('/suno/v1/music', job).set('/suno/v2/fetch', done({ musics: [track(AUDIO)] }));
    const { id: source } = await harness.submit(MUSIC);
    await step(2);
    expect(await harness.read(source)).toMatchObject({ status: 'succeeded' });
    const { id } = await harness.submit({ model: 'song-bpm', source_task_id: source });
    return { source, id };
  }

  it('that is queued continues with its track, whatever happens to the source', async () => {
    const { source, id } = await queued();
    await harness.gateway.dataSource.query(
      `UPDATE task SET status = 'expired', result = NULL, charged = NULL WHERE id = $1`,
      [fromPublicId('task', source)],
    );
    answers.set('/suno/v1/bpm', job).set('/suno/v2/fetch', done({ bpm: { average: 120 } }));
    await step(2);
    const sent = stub.seen.find(({ url }) => url === '/suno/v1/bpm');
    expect(JSON.parse(String(sent?.body))).toMatchObject({ music_id: 'm-2' });
    expect(await harness.read(id)).toMatchObject({ status: 'succeeded', charged_microusd: '1200' });
    expect(await harness.refused({ model: 'song-bpm', source_task_id: source })).toMatchObject({
      status: 409,
      code: 'source_task_not_ready',
    });
  });

  it('that is queued while its track expires at the provider fails and costs nothing', async () => {
    const { id } = await queued();
    const { held } = await harness.gateway.balance(harness.account.accountId);
    answers.set('/suno/v1/bpm', { status: 404, body: { status: 'FAILED', message: 'no track' } });
    await step(2);
    expect(await harness.read(id)).toMatchObject({
      status: 'failed',
      charged_microusd: null,
      error: { code: 'provider_task_failed' },
    });
    expect(await heldNow()).toBe(held - 1_200n);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SsrfSafeDialer } from '../../../src/platform/http-client/ssrf-safe-dialer.js';
import { type OwnSongHarness, SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';

const PRIVATE = 'http://inside.example/recording.mp3';
const PUBLIC = 'http://outside.example/recording.mp3';
const NOWHERE = 'http://name.invalid/recording.mp3';
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'inside.example': ['93.184.216.34', '10.0.0.7'],
  'outside.example': ['93.184.216.34'],
};

let harness: OwnSongHarness;

beforeAll(async () => {
  harness = await SongHarness.start();
  // The addresses of the names in this test; no test asks a name server.
  const resolve = (name: string) => Promise.resolve(ADDRESSES[name] ?? []);
  Object.assign(harness.gateway.app.get(SsrfSafeDialer, { strict: false }), { resolve });
});
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.stop();
});

const clips = (last: string) => [PUBLIC, PUBLIC, last];

describe('the URL of a recording for a song', () => {
  it.each([
    [{ model: 'song-upload', audio_url: PRIVATE }, 'audio_url'],
    [{ model: 'song-upload-cover', audio_url: PRIVATE, gen_description: 'Slow' }, 'audio_url'],
    [{ model: 'song-inspo', audio_urls: clips(PRIVATE) }, 'audio_urls'],
    [{ model: 'tune-music-upload', audio_url: PRIVATE }, 'audio_url'],
  ])('%j is refused where one address of its name is private', async (body, param) => {
    const before = await harness.gateway.balance(harness.account.accountId);
    expect(await harness.refused(body)).toMatchObject({
      status: 400,
      code: 'audio_download_failed',
      type: 'invalid_request_error',
      param,
    });
    expect(await harness.gateway.balance(harness.account.accountId)).toEqual(before);
    expect(await harness.gateway.dataSource.query('SELECT id FROM task')).toEqual([]);
    expect(await harness.gateway.upstreamRequests()).toEqual([]);
  });

  it.each([PUBLIC, NOWHERE])(
    '%s is left to the provider: the gateway fetches nothing',
    async (url) => {
      const { id } = await harness.submit({ model: 'song-upload', audio_url: url, title: AT_ONCE });
      expect(await harness.ended(id)).toMatchObject({ status: 'succeeded' });
    },
  );
});

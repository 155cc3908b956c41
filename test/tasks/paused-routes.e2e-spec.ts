import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RoutePauseStore } from '../../src/providers/routing/route-pause-store.js';
import { type OwnSongHarness, SongHarness } from '../support/song-harness.js';
import { StubUpstream } from '../support/stub-upstream.js';

const PAUSE_MS = 3_000;
const ROUTE = { provider: 'ttapi', upstreamModel: null };
const TRACK = { musicId: 'm-2', audioUrl: 'https://media.example/a.mp3', duration: '10' };

let upstream: StubUpstream;
let harness: OwnSongHarness;
beforeAll(async () => {
  upstream = await StubUpstream.start();
  harness = await SongHarness.start({ TTAPI_API_KEY: 'none', TTAPI_BASE_URL: upstream.url });
});
afterAll(async () => {
  await harness.stop();
  await upstream.stop();
});

describe('a task whose route is paused', () => {
  it('waits for its submission until the pause is over, and is made then', async () => {
    const sentAtMs: number[] = [];
    let pausedUntilMs = 0;
    const store = harness.gateway.app.get(RoutePauseStore);
    const pause = async () => {
      pausedUntilMs = Date.now() + PAUSE_MS;
      const until = new Date(pausedUntilMs);
      await store.pause({ ...ROUTE, until, reason: 'they fail', actor: 'test' });
    };
    upstream.reply = (response, { method }) => {
      if (method === 'GET') {
        const data = { musics: [TRACK] };
        response.end(JSON.stringify({ status: 'SUCCESS', jobId: 'j-1', data }));
        return;
      }
      sentAtMs.push(Date.now());
      if (sentAtMs.length > 1) {
        response.end(JSON.stringify({ status: 'SUCCESS', data: { job_id: 'j-1' } }));
        return;
      }
      // The pause is there before the answer that puts the submission off.
      void pause().then(() => response.writeHead(429).end('{}'));
    };
    const song = { model: 'song-music', custom: true, prompt: 'The rain is writing' };
    const { id } = await harness.submit(song);
    expect(await harness.ended(id)).toMatchObject({ status: 'succeeded' });
    expect(sentAtMs).toHaveLength(2);
    expect(sentAtMs[1]).toBeGreaterThanOrEqual(pausedUntilMs);
  });
});

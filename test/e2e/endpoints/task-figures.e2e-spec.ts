import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { silentWav } from '../../support/dubbing-harness.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { SongHarness } from '../../support/song-harness.js';
import { type SeenRequest, StubUpstream } from '../../support/stub-upstream.js';

const MUSIC = { musicId: 'm-2', audioUrl: 'https://media.example/a.mp3', duration: '10' };
const DUB_COST = '3000';

let upstream: StubUpstream;
let harness: SongHarness;
beforeAll(async () => {
  upstream = await StubUpstream.start();
  upstream.reply = (response, request) => {
    if (request.url === '/v1/dubbing') response.setHeader('character-cost', DUB_COST);
    response.end(answerTo(request));
  };
  const { url } = upstream;
  harness = await SongHarness.start({
    EGRESS_ALLOW: new URL(url).host,
    TTAPI_API_KEY: 'none',
    TTAPI_BASE_URL: url,
    ELEVENLABS_API_KEY: 'none',
    ELEVENLABS_BASE_URL: url,
  });
});
afterAll(async () => {
  await harness.stop();
  await upstream.stop();
});

/** The wire of TTAPI, whose upload costs an amount of its own, and that of ElevenLabs. */
function answerTo({ method, url }: SeenRequest): string | Buffer {
  if (url.endsWith('.wav') || url.includes('/audio/')) return silentWav(1);
  const media = { content_type: 'audio/wav', duration: 1 };
  if (url.startsWith('/v1/dubbing')) {
    return JSON.stringify({ dubbing_id: 'd-1', status: 'dubbed', media_metadata: media });
  }
  if (method === 'GET') {
    return JSON.stringify({ status: 'SUCCESS', jobId: 'j-1', data: { quota: 6, musics: [MUSIC] } });
  }
  return url.endsWith('/upload')
    ? JSON.stringify({ status: 'SUCCESS', data: { music_id: 'm-1', quota: 1 } })
    : JSON.stringify({ status: 'SUCCESS', data: { job_id: 'j-1' } });
}

async function figuresOf(id: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { json } = await send(`${harness.gateway.url}/admin/tasks/${id}`, { headers });
  return (json as { provider_figures: unknown }).provider_figures;
}

describe('what a provider says that a task cost', () => {
  it('is on the record of a song, also what its first step cost', async () => {
    const { id } = await harness.made({
      model: 'song-upload-cover',
      audio_url: 'https://example.com/a.mp3',
      gen_description: 'as a waltz',
    });
    expect(await figuresOf(id)).toEqual({ 'step1.data.quota': 1, 'data.quota': 6 });
    const [order] = upstream.seen.filter(({ url }) => url.endsWith('/cover'));
    expect(JSON.parse(order?.body.toString() ?? '')).not.toHaveProperty('providerFigures');
  });

  it('is on the record of a dub', async () => {
    const answer = await postJson(
      `${harness.gateway.url}/v1/audio/dubbing`,
      harness.account.headers,
      {
        model: 'aud-dubbing-v1',
        target_language: 'fr',
        source_url: `${upstream.url}/a.wav`,
      },
    );
    const { id } = answer.json as { id: string };
    expect(await harness.ended(id)).toMatchObject({ status: 'succeeded' });
    expect(await figuresOf(id)).toEqual({ 'character-cost': DUB_COST });
  });
});

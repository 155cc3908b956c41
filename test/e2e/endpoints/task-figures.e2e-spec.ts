import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditBooks } from '../../../src/billing/audit/usage-audit.js';
import { silentWav } from '../../support/dubbing-harness.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { SongHarness } from '../../support/song-harness.js';
import { type SeenRequest, StubUpstream } from '../../support/stub-upstream.js';

const MUSIC = { musicId: 'm-2', audioUrl: 'https://media.example/a.mp3', duration: '10' };
const DUB_COST = '3000';
/** TTAPI takes a cent for a unit of its quota. What a character of ElevenLabs costs is not told: a dub costs what its route says. */
const OVERLAY = {
  providers: [
    {
      id: 'ttapi',
      reported_cost: { figure: 'quota', unit: 'unit', micro_usd_per_million_units: 10_000_000_000 },
    },
  ],
  models: [
    {
      id: 'aud-dubbing-v1',
      routes: [
        {
          provider: 'elevenlabs',
          upstream_model: 'dubbing_v1',
          cost: { unit: 'measured_second', micro_usd: 6_000 },
        },
      ],
    },
  ],
};

const DONE = { status: 'SUCCESS', jobId: 'j-1', data: { quota: 6, musics: [MUSIC] } };
let poll: object = DONE;
/** How often the provider still refuses a submission for its rate. */
let refusals = 0;
let upstream: StubUpstream;
let harness: SongHarness;
beforeAll(async () => {
  upstream = await StubUpstream.start();
  upstream.reply = (response, request) => {
    if (request.method === 'POST' && refusals > 0) {
      refusals -= 1;
      response.writeHead(429, { 'x-request-id': 'r-429' }).end('{}');
      return;
    }
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
    CATALOG_FILE: overlay(OVERLAY),
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
    return JSON.stringify(poll);
  }
  return url.endsWith('/upload')
    ? JSON.stringify({ status: 'SUCCESS', data: { music_id: 'm-1', quota: 1 } })
    : JSON.stringify({ status: 'SUCCESS', data: { job_id: 'j-1' } });
}

async function recordOf(id: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return (await send(`${harness.gateway.url}/admin/tasks/${id}`, { headers })).json;
}

describe('what a provider says that a task cost', () => {
  it('is on the record of a song, also what its first step cost', async () => {
    const { id } = await harness.made({
      model: 'song-upload-cover',
      audio_url: 'https://example.com/a.mp3',
      gen_description: 'as a waltz',
    });
    expect(await recordOf(id)).toMatchObject({
      provider_figures: { 'step1.data.quota': 1, 'data.quota': 6 },
      cost_microusd: '70000',
    });
    const [order] = upstream.seen.filter(({ url }) => url.endsWith('/cover'));
    expect(JSON.parse(order?.body.toString() ?? '')).not.toHaveProperty('providerFigures');
  });

  it('is the cost of a song that failed too, and is known to usage', async () => {
    poll = { status: 'FAILED', message: 'no', data: { quota: 2 } };
    const { id } = await harness.submit({
      model: 'song-music',
      custom: true,
      prompt: 'The rain is writing',
    });
    expect(await harness.ended(id)).toMatchObject({ status: 'failed' });
    poll = DONE;
    expect(await recordOf(id)).toMatchObject({ cost_microusd: '20000', charged_microusd: null });
    const url = `${harness.gateway.url}/admin/usage?group_by=provider&model=song-music`;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await send(url, { headers })).json).toMatchObject({
      data: [{ provider: 'ttapi', failures: 1, cost_microusd: '20000', margin_microusd: '-20000' }],
    });
    const report = await auditBooks(harness.gateway.dataSource, 'full');
    expect(report).toMatchObject({ ok: true, discrepancies: [] });
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
    expect(await recordOf(id)).toMatchObject({
      provider_figures: { 'character-cost': DUB_COST },
      cost_microusd: '6000',
    });
  });
});

describe('the attempts of a task', () => {
  it('are on its record for operators where one failed, and never on what its caller reads', async () => {
    refusals = 1;
    const song = { model: 'song-music', custom: true, prompt: 'The rain is writing' };
    const { id } = await harness.submit(song);
    expect(await harness.ended(id)).not.toHaveProperty('attempts');
    expect(await recordOf(id)).toMatchObject({
      status: 'succeeded',
      attempts: [
        { step: 'submit', provider: 'ttapi', outcome: 'rate_limited', status: 429 },
        { step: 'submit', provider: 'ttapi', outcome: 'success', start_ms: expect.any(Number) },
        { step: 'poll', outcome: 'success' },
      ],
    });
  });

  it('are the one that was accepted where none failed', async () => {
    const song = { model: 'song-music', custom: true, prompt: 'The rain is writing' };
    const { id } = await harness.made(song);
    expect(await recordOf(id)).toMatchObject({
      attempts: [{ step: 'submit', outcome: 'success', start_ms: null }],
    });
  });
});

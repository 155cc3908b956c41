import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { loadCatalog } from '../../../src/catalog/catalog-file.js';
import { checkRoutes } from '../../../src/providers/provider-configs.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { VideoHarness } from '../../support/video-harness.js';

const JOB = 'models/veo-3.1/operations/job-1';
const FUNDS = 10_000_000n;
const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);
const ROW = {
  id: 'vid-veo',
  operation: 'video',
  routes: [{ provider: 'gemini', upstream_model: 'veo-3.1' }],
  limits: {
    resolutions: ['720p', '1080p'],
    aspect_ratios: ['16:9', '9:16'],
    frames: ['first', 'last'],
    max_image_urls: 3,
  },
  price: {
    unit: 'video',
    by_seconds: [
      { seconds: '4', micro_usd: 1_600_000 },
      { seconds: '8', micro_usd: 3_200_000 },
    ],
    per_second: [
      { resolution: '720p', sound: false, micro_usd_per_second: 400_000 },
      { resolution: '1080p', sound: false, micro_usd_per_second: 500_000 },
    ],
  },
};

let vendor: StubUpstream;
let gateway: TestGateway;
/** What the vendor says of its job. */
let told: object = {};

beforeAll(async () => {
  vendor = await StubUpstream.start();
  vendor.reply = (response, { method, url }) =>
    url.includes('/files/')
      ? response.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4)
      : response.end(JSON.stringify(method === 'POST' ? { name: JOB } : { name: JOB, ...told }));
  gateway = await startTestGateway({
    SANDBOX: 'off',
    GEMINI_API_KEY: 'a-key-of-the-vendor',
    GEMINI_BASE_URL: `${vendor.url}/v1beta`,
    CATALOG_FILE: overlay({ models: [ROW] }),
    TASK_TICK_MS: '50',
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await vendor.stop();
});

describe('a video of Gemini', () => {
  it('costs its price by resolution and seconds, and its file comes with the key of the provider', async () => {
    told = {
      done: true,
      response: {
        generateVideoResponse: {
          generatedSamples: [
            { video: { uri: 'https://elsewhere.example/v1beta/files/f1:download?alt=media' } },
          ],
        },
      },
    };
    const videos = await VideoHarness.open(gateway, FUNDS);
    const { id } = await videos.submitted({
      model: 'vid-veo',
      prompt: 'The sea',
      seconds: '8',
      resolution: '1080p',
      aspect_ratio: '9:16',
    });
    expect(await videos.ended(id)).toMatchObject({ status: 'completed', model: 'vid-veo' });
    expect((await videos.get(`videos/${id}/content`)).bytes).toEqual(MP4);
    expect(JSON.parse(vendor.seen[0]?.body.toString() ?? '')).toEqual({
      instances: [{ prompt: 'The sea' }],
      parameters: { durationSeconds: 8, resolution: '1080p', aspectRatio: '9:16' },
    });
    expect(await gateway.balance(videos.account.accountId)).toMatchObject({
      available: FUNDS - 4_000_000n,
      held: 0n,
    });
  });

  it('is free where the vendor keeps it back', async () => {
    told = {
      done: true,
      response: {
        generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['No.'] },
      },
    };
    const videos = await VideoHarness.open(gateway, FUNDS);
    const { id } = await videos.submitted({ model: 'vid-veo', prompt: 'No', seconds: '4' });
    expect(await videos.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_task_failed' },
    });
    expect(await gateway.balance(videos.account.accountId)).toMatchObject({
      available: FUNDS,
      held: 0n,
    });
  });

  it.each([
    ['a choice of sound', { audio: true }, 'limits.audio: a video of gemini always has sound'],
    ['sizes', { size_pattern: '^\\d+x\\d+$' }, 'limits.size_pattern: gemini takes no size'],
  ])('is not sold with %s', (_what, limits, says) => {
    const second = (resolution: string, sound: boolean) => ({
      resolution,
      sound,
      micro_usd_per_second: 1,
    });
    const perSecond = ['720p', '1080p'].flatMap((resolution) => [
      second(resolution, false),
      second(resolution, true),
    ]);
    const row = {
      ...ROW,
      limits: { ...ROW.limits, ...limits },
      price: { ...ROW.price, per_second: perSecond },
    };
    const catalog = loadCatalog(overlay({ models: [row] }));
    expect(() => checkRoutes({ vendorsDir: undefined }, catalog)).toThrow(says);
  });
});

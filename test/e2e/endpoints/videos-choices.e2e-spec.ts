import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { expectRefused } from '../../support/refusal.js';
import { BRISK, VideoHarness } from '../../support/video-harness.js';

const ROUTE = { provider: 'video', upstream_model: 'vid-next' };
const second = (resolution: string, sound: boolean, micro_usd_per_second: number) => ({
  resolution,
  sound,
  micro_usd_per_second,
});
const PER_SECOND = [
  second('720p', false, 30_000),
  second('720p', true, 45_000),
  second('480p', false, 10_000),
  second('480p', true, 15_000),
];
const CATALOG = {
  models: [
    {
      id: 'vid-next',
      operation: 'video',
      routes: [
        {
          ...ROUTE,
          cost: {
            unit: 'video',
            by_seconds: [
              { seconds: '4', micro_usd: 1 },
              { seconds: '8', micro_usd: 1 },
            ],
            per_second: PER_SECOND.map((row) => ({ ...row, micro_usd_per_second: 9_000 })),
          },
        },
      ],
      price: {
        unit: 'video',
        by_seconds: [
          { seconds: '4', micro_usd: 1 },
          { seconds: '8', micro_usd: 1 },
        ],
        per_second: PER_SECOND,
      },
      limits: {
        aspect_ratios: ['16:9', '9:16'],
        resolutions: ['720p', '480p'],
        audio: true,
        frames: ['first', 'last'],
        max_image_urls: 3,
      },
    },
    {
      id: 'vid-first',
      operation: 'video',
      routes: [ROUTE],
      price: { unit: 'video', by_seconds: [{ seconds: '4', micro_usd: 70 }] },
      limits: { frames: ['first'], max_image_urls: 0 },
    },
  ],
};
const IMAGE = 'https://93.184.216.34/a.png';
const CHOICES = ['resolution', 'audio', 'first_frame_url', 'last_frame_url'];

let gateway: TestGateway;
let harness: VideoHarness;

beforeAll(async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'videos-')), 'catalog.json');
  writeFileSync(file, JSON.stringify(CATALOG));
  gateway = await startTestGateway({ CATALOG_FILE: file, ...BRISK });
  harness = await VideoHarness.open(gateway);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const next = (fields: object = {}) => ({ model: 'vid-next', seconds: '4', ...fields });
const sent = async () => {
  const requests = await gateway.upstreamRequests();
  return requests.find(({ operation }) => operation === 'video_create')?.body;
};

describe('a video with choices', () => {
  it.each([
    ['none', {}, { resolution: '720p', audio: false }, 30_000],
    ['sound', { audio: true }, { resolution: '720p', audio: true }, 45_000],
    ['a resolution', { resolution: '480p' }, { resolution: '480p', audio: false }, 10_000],
    [
      'both',
      { resolution: '480p', audio: true, seconds: '8' },
      { resolution: '480p', audio: true },
      15_000,
    ],
  ])(
    'of %s costs its second price times the seconds asked (G-21)',
    async (_what, fields, made, price) => {
      const { id, seconds } = await harness.submitted(next(fields));
      const video = await harness.ended(id);
      expect(video).toMatchObject({ status: 'completed', ...made });
      expect(await sent()).toMatchObject(made);
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const task = (await send(`${gateway.url}/admin/tasks/${id}`, { headers })).json;
      expect(task).toMatchObject({
        unit: 'second',
        quantity: Number(seconds),
        unit_price_microusd: `${price}`,
        cost: (price * Number(seconds)) / 1e6,
        cost_microusd: `${9_000 * Number(seconds)}`,
      });
    },
  );

  it('gives the provider both frames and the reference images', async () => {
    const images = {
      first_frame_url: IMAGE,
      last_frame_url: `${IMAGE}?last`,
      image_urls: [`${IMAGE}?1`, `${IMAGE}?2`],
    };
    const { id } = await harness.submitted(next(images));
    await harness.ended(id);
    expect(await sent()).toMatchObject(images);
  });

  it('is taken from a form, where sound is a word', async () => {
    const body = new FormData();
    const fields = { ...next(), prompt: 'Sea', audio: 'true', resolution: '480p' };
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const { headers } = harness.account;
    const answer = await send(`${gateway.url}/v1/videos`, { method: 'POST', headers, body });
    expect(answer.json).toMatchObject({ status: 'queued', resolution: '480p', audio: true });
  });

  it('is quoted by what it chooses', async () => {
    const body = { ...next({ audio: true }), prompt: 'Sea' };
    const quote = { path: '/v1/videos', body };
    const answer = await postJson(`${gateway.url}/v1/quotes`, harness.account.headers, quote);
    expect(answer.json).toMatchObject({ hold_microusd: '180000', charge_microusd: '180000' });
  });

  it.each([
    ['a resolution that is not listed', { resolution: '4k' }, 'resolution'],
    ['a sound that is no boolean', { audio: 'yes' }, 'audio'],
    [
      'a first frame of a private host',
      { first_frame_url: 'http://10.0.0.1/a' },
      'first_frame_url',
    ],
    [
      'a last frame of a private host',
      { first_frame_url: IMAGE, last_frame_url: 'http://localhost/a' },
      'last_frame_url',
    ],
    ['a last frame alone', { last_frame_url: IMAGE }, 'first_frame_url'],
    ['too many reference images', { image_urls: [IMAGE, IMAGE, IMAGE, IMAGE] }, 'image_urls'],
  ])('is refused with %s', async (_what, fields, param) => {
    // A video of an earlier test is still asked about.
    await gateway.expectCleanBooks();
    const refusal = { status: 400, code: 'invalid_request', param };
    const call = () => harness.submit(next(fields));
    const { error } = await expectRefused(gateway, harness.account.accountId, call, refusal);
    expect(error.message).toContain(param);
  });
});

describe('a model without a choice', () => {
  it.each(['vid-omni', 'vid-motion', 'vid-cine'])(
    '%s refuses each of the fields and lists none of them (G-62)',
    async (model) => {
      const seconds = model === 'vid-omni' ? '10' : '5';
      const values = ['720p', false, IMAGE, IMAGE];
      for (const [index, name] of CHOICES.entries()) {
        const answer = await harness.submit({ model, seconds, [name]: values[index] });
        expect([answer.status, errorOf(answer).param]).toEqual([400, name]);
        expect(errorOf(answer).message).toBe(`${name} must not be sent with this model.`);
      }
      const { json } = await harness.get(`models/${model}`);
      const { parameters } = json as { parameters: readonly string[] };
      expect(parameters.filter((name) => CHOICES.includes(name))).toEqual([]);
    },
  );

  it('takes the first frame where its row lists that alone', async () => {
    const fields = { model: 'vid-first', seconds: '4', first_frame_url: IMAGE };
    await harness.ended((await harness.submitted(fields)).id);
    const answer = await harness.submit({ ...fields, last_frame_url: IMAGE });
    expect([answer.status, errorOf(answer).param]).toEqual([400, 'last_frame_url']);
  });
});

describe('GET /v1/models/{id}', () => {
  it.each([
    ['vid-next', true],
    ['vid-first', false],
  ])('lists image_urls for a model that takes some: %s, %s', async (model, isListed) => {
    const { json } = await harness.get(`models/${model}`);
    const { parameters } = json as { parameters: readonly string[] };
    expect(parameters.includes('image_urls')).toBe(isListed);
  });

  it('shows what a caller may choose and the price of each choice', async () => {
    const { json } = await harness.get('models/vid-next');
    expect(json).toMatchObject({
      parameters: expect.arrayContaining(CHOICES),
      limits: {
        aspect_ratios: ['16:9', '9:16'],
        resolutions: ['720p', '480p'],
        audio: true,
        frames: ['first', 'last'],
        max_image_urls: 3,
      },
      price: {
        unit: 'second',
        amount_microusd: '30000',
        by_seconds: { '4': '120000', '8': '240000' },
        per_second: PER_SECOND.map(({ resolution, sound, micro_usd_per_second: amount }) => ({
          resolution,
          sound,
          amount_microusd: `${amount}`,
        })),
      },
    });
  });
});

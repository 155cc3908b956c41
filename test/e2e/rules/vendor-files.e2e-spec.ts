import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminHarness } from '../../support/admin-harness.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';
import { BRISK, VideoHarness } from '../../support/video-harness.js';

const KEY = 'a-key-of-the-vendor';
const PRICE = 320_000n;
const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);

let vendor: StubUpstream;
let files: StubUpstream;
let gateway: TestGateway;
let admin: AdminHarness;
/** What the vendor says of its job. */
let told: object = {};

function vendorFile(): object {
  return {
    id: 'acme',
    protocol: 'async-json',
    key_env: 'ACME_TEST_KEY',
    base_url: `${vendor.url}/v1`,
    auth: { in: 'bearer' },
    submit: { path: '/generations', body: { prompt: '{{prompt}}', model: '{{model}}' }, id: 'id' },
    read: {
      path: '/generations/{id}',
      state: 'state',
      states: { queued: ['queued'], succeeded: ['completed'], failed: ['failed'] },
    },
    result: { url: ['assets.video'] },
    cost: { path: 'billing.usd', unit: 'usd' },
  };
}

beforeAll(async () => {
  vendor = await StubUpstream.start();
  files = await StubUpstream.start();
  vendor.reply = (response, { method }) =>
    response.end(JSON.stringify(method === 'POST' ? { id: 'job-1' } : told));
  files.reply = (response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4);
  const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
  writeFileSync(join(folder, 'acme.json'), JSON.stringify(vendorFile()));
  const catalog = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  const model = {
    id: 'vid-acme',
    operation: 'video',
    routes: [{ provider: 'acme', upstream_model: 'ray-2' }],
    limits: { max_image_urls: 0 },
    price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(PRICE) }] },
  };
  writeFileSync(catalog, JSON.stringify({ models: [model] }));
  process.env.ACME_TEST_KEY = KEY;
  gateway = await startTestGateway({
    SANDBOX: 'off',
    VENDORS_DIR: folder,
    CATALOG_FILE: catalog,
    EGRESS_ALLOW: '127.0.0.1',
    ...BRISK,
  });
  admin = await AdminHarness.start(gateway);
});
afterAll(async () => {
  delete process.env.ACME_TEST_KEY;
  await admin.stop();
  await vendor.stop();
  await files.stop();
});

const open = () => VideoHarness.open(gateway, 1_000_000n);
const submitted = (videos: VideoHarness) =>
  videos.submitted({ model: 'vid-acme', prompt: 'The sea' });

describe('a vendor of a file', () => {
  it('makes a video that costs its price, and whose file comes without the key', async () => {
    told = { state: 'completed', assets: { video: `${files.url}/a.mp4` } };
    const videos = await open();
    const { id } = await submitted(videos);
    expect(await videos.ended(id)).toMatchObject({ status: 'completed', model: 'vid-acme' });
    expect((await videos.get(`videos/${id}/content`)).bytes).toEqual(MP4);
    expect(await gateway.balance(videos.account.accountId)).toMatchObject({
      available: 1_000_000n - PRICE,
      held: 0n,
    });
    expect(JSON.parse(vendor.seen[0]?.body.toString() ?? '')).toEqual({
      prompt: 'The sea',
      model: 'ray-2',
    });
    const keys = vendor.seen.map(({ headers }) => headers.authorization);
    expect(new Set(keys)).toEqual(new Set([`Bearer ${KEY}`]));
    expect(files.seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(files.seen.map(({ headers, url }) => [headers, url]))).not.toContain(KEY);
  });

  it.each([
    ['that ended well', { state: 'completed' }, { billing: { usd: 0.25 } }, '250000'],
    ['that failed', { state: 'failed' }, { billing: { usd: '0.1' } }, '100000'],
    ['without a figure', { state: 'completed' }, {}, null],
    ['with a figure that is none', { state: 'completed' }, { billing: { usd: 'much' } }, null],
  ])('tells the operator what a job %s cost', async (_what, state, billing, cost) => {
    told = { ...state, ...billing, assets: { video: `${files.url}/a.mp4` } };
    const videos = await open();
    const { id } = await submitted(videos);
    await videos.ended(id);
    const { json } = await admin.get(`/tasks/${id}`);
    expect(json).toMatchObject({ cost_microusd: cost });
    expect((await videos.get(`tasks/${id}`)).bytes.toString()).not.toContain('billing');
  });

  it('charges nothing for a job that failed', async () => {
    told = { state: 'failed', failure_reason: 'No' };
    const videos = await open();
    const { id } = await submitted(videos);
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await gateway.balance(videos.account.accountId)).toMatchObject({
      available: 1_000_000n,
      held: 0n,
    });
  });

  it('keeps the hold while it says a word that the file does not list', async () => {
    told = { state: 'pondering' };
    const videos = await open();
    const { id } = await submitted(videos);
    const before = vendor.seen.length;
    await until(() => vendor.seen.length > before + 2);
    expect((await videos.read(id)).status).not.toMatch(/completed|failed/);
    expect(await gateway.balance(videos.account.accountId)).toMatchObject({
      available: 1_000_000n - PRICE,
      held: PRICE,
    });
    told = { state: 'failed' };
    await videos.ended(id);
    await gateway.expectCleanBooks();
  });
});

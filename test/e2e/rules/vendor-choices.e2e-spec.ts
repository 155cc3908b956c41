import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminHarness } from '../../support/admin-harness.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';
import { BRISK, VIDEO, VideoHarness } from '../../support/video-harness.js';

const IMAGE = 'https://images.example/a.png';
const FRAME = { first_frame_url: IMAGE };
const REFERENCES = { image_urls: [IMAGE] };
const EACH = [{ $each: 'image_urls', item: '{{item}}' }];
const WHOLE = {
  ...{ model: '{{model}}', prompt: '{{prompt}}', size: '{{aspect_ratio}}' },
  ...{ image: '{{first_frame_url}}', references: EACH },
};
/** How each vendor takes a job. Only the last takes a frame and references at once. */
const SUBMITS = {
  apart: { body: WHOLE, not_together: [['image_urls', 'first_frame_url']] },
  paths: {
    body: { prompt: '{{prompt}}', size: '{{aspect_ratio}}', image: '{{first_frame_url}}' },
    variants: [
      {
        has: ['image_urls'],
        path: '/references',
        body: { prompt: '{{prompt}}', size: '{{aspect_ratio}}', references: EACH },
      },
    ],
  },
  tables: {
    body: { ...WHOLE, size: { $field: 'size', table: { '1280x720': 'wide' } } },
  },
  whole: { body: WHOLE },
} as const;
type Vendor = keyof typeof SUBMITS;

let upstream: StubUpstream;
let gateway: TestGateway;
let admin: AdminHarness;
let videos: VideoHarness;

function vendorFile(id: string): object {
  return {
    ...{ id, protocol: 'async-json', key_env: '', base_url: `${upstream.url}/${id}` },
    auth: { in: 'bearer' },
    submit: { path: '/jobs', id: 'id', ...SUBMITS[id as Vendor] },
    read: {
      ...{ path: '/jobs/{id}', state: 'state' },
      states: { queued: ['queued'], succeeded: ['done'], failed: ['failed'] },
    },
    result: { url: ['video'] },
  };
}

function modelOn(...vendors: readonly Vendor[]) {
  return {
    id: `vid-${vendors.join('-')}`,
    operation: 'video',
    routable: true,
    routes: vendors.map((provider) => ({ provider, upstream_model: 'm' })),
    limits: {
      ...{ max_image_urls: 2, frames: ['first'] },
      ...(vendors.includes('tables')
        ? { size_pattern: '^\\d+x\\d+$' }
        : { aspect_ratios: ['1:1'] }),
    },
    price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: 100 }] },
  };
}

beforeAll(async () => {
  upstream = await StubUpstream.start();
  upstream.reply = (response, { method }) =>
    response.end(JSON.stringify(method === 'POST' ? { id: 'job-1' } : { state: 'failed' }));
  const folder = mkdtempSync(join(tmpdir(), 'vendors-'));
  for (const id of Object.keys(SUBMITS)) {
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(vendorFile(id)));
  }
  const models = [
    ...[modelOn('apart'), modelOn('paths'), modelOn('tables')],
    ...[modelOn('apart', 'whole'), modelOn('apart', 'paths')],
  ];
  gateway = await startTestGateway({
    ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: overlay({ models }) },
    ...{ EGRESS_ALLOW: '127.0.0.1', ...BRISK },
  });
  admin = await AdminHarness.start(gateway);
  videos = await VideoHarness.open(gateway, 1_000_000n);
});
afterAll(async () => {
  await admin.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const saidOf = (answer: Answer) => {
  const { code, param, message } = errorOf(answer);
  const retry = answer.headers.get('x-should-retry');
  return { status: answer.status, code, param, message, retry };
};
const sentTo = () => upstream.seen.filter(({ method }) => method === 'POST').map(({ url }) => url);

describe('a video that no route of its model can make', () => {
  it.each<[string, object, string, string]>([
    [
      'vid-apart',
      { ...FRAME, ...REFERENCES },
      'image_urls',
      'No route of this model takes image_urls and first_frame_url as they were sent, or not together.',
    ],
    [
      'vid-paths',
      { ...FRAME, ...REFERENCES },
      'first_frame_url',
      'No route of this model takes first_frame_url and image_urls as they were sent, or not together.',
    ],
    [
      'vid-apart-paths',
      { ...FRAME, ...REFERENCES, aspect_ratio: '1:1' },
      'image_urls',
      'No route of this model takes image_urls and first_frame_url as they were sent, or not together.',
    ],
    [
      'vid-tables',
      { size: '640x480' },
      'size',
      'No route of this model takes size as it was sent.',
    ],
  ])(
    'of %s with %j is refused with its fields before any hold',
    async (model, fields, param, message) => {
      const refusal = { status: 400, code: 'invalid_request', param, message, retry: 'false' };
      expect(saidOf(await videos.submit({ model, ...fields }))).toEqual(refusal);
      const quote = { path: '/v1/videos', body: { ...VIDEO, model, ...fields } };
      const quoted = await postJson(`${gateway.url}/v1/quotes`, videos.account.headers, quote);
      expect(JSON.stringify(quoted.json)).toContain(message);
      expect(sentTo()).toEqual([]);
      expect(await videos.balance()).toMatchObject({ available: 1_000_000n, held: 0n });
    },
  );

  it('is made with each of the fields alone', async () => {
    for (const fields of [FRAME, REFERENCES]) {
      await videos.made({ model: 'vid-apart', ...fields });
      await videos.made({ model: 'vid-paths', ...fields });
    }
    await videos.made({ model: 'vid-tables', size: '1280x720' });
    expect(sentTo()).toEqual([
      ...['/apart/jobs', '/paths/jobs', '/apart/jobs', '/paths/references', '/tables/jobs'],
    ]);
  });
});

describe('a video that one of several routes can make', () => {
  it('is made there, and what both can at the first', async () => {
    await videos.made({ model: 'vid-apart-whole', ...FRAME, ...REFERENCES });
    await videos.made({ model: 'vid-apart-whole', ...FRAME });
    expect(sentTo()).toEqual(['/whole/jobs', '/apart/jobs']);
  });

  it('is refused by the header that excludes that route', async () => {
    const fields = { model: 'vid-apart-whole', ...FRAME, ...REFERENCES };
    const headers = { 'x-gateway-route': 'exclude=route-2' };
    expect(saidOf(await videos.submit(fields, headers))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'x-gateway-route',
      retry: 'false',
    });
  });

  it('is 503 while an operator has paused that route', async () => {
    const paused = { reason: 'It fails' };
    expect((await admin.post('/providers/whole/pause', paused)).status).toBe(200);
    const fields = { model: 'vid-apart-whole', ...FRAME, ...REFERENCES };
    await until(async () => (await videos.submit(fields)).status === 503);
    expect(saidOf(await videos.submit(fields))).toMatchObject({
      status: 503,
      code: 'no_eligible_route',
      retry: 'false',
    });
    await videos.made({ model: 'vid-apart-whole', ...FRAME });
    await admin.ask('DELETE', '/providers/whole/pause');
    await until(async () => (await videos.submit(fields)).status === 200);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { VideoHarness } from '../../support/video-harness.js';

const PRICE = 320_000n;
const CREDIT = 1_000_000n;
const MP4 = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);

let vendor: StubUpstream;
let gateway: TestGateway;
/** What the vendor says to look-ups, the next one first; the last answer stays. */
let lookUps: readonly (readonly [status: number, answer: object])[] = [];
/** References of the jobs that the vendor was sent. */
let references: string[] = [];
let asked = 0;

const FOUND = [200, { data: { id: 'job-1', own_id: '{reference}' } }] as const;
const ANOTHER = [200, { data: { id: 'job-2', own_id: 'task_of_somebody_else' } }] as const;
const NONE = [404, { code: 'no_such_job', message: 'No such job' }] as const;
const BROKEN = [500, {}] as const;

function vendorFile(): object {
  const body = { prompt: '{{prompt}}', own_id: '{{reference}}' };
  return {
    ...{ id: 'acme', protocol: 'async-json', key_env: 'ACME_TEST_KEY' },
    ...{ base_url: `${vendor.url}/v1`, auth: { in: 'bearer' } },
    submit: { path: '/jobs', body, id: 'id' },
    lookup: {
      ...{ path: '/own/{reference}', id: 'data.id', reference: 'data.own_id' },
      absent: ['no_such_job'],
    },
    read: {
      ...{ path: '/jobs/{id}', state: 'state' },
      states: { succeeded: ['completed'], failed: ['failed'] },
    },
    result: { url: ['video'] },
    errors: { code: ['code'] },
  };
}

beforeAll(async () => {
  vendor = await StubUpstream.start();
  vendor.reply = (response, { method, url, body }) => {
    if (method === 'POST') {
      references.push((JSON.parse(body.toString()) as { own_id: string }).own_id);
      response.destroy();
    } else if (url.startsWith('/v1/own/')) {
      expect(references).toEqual([url.slice('/v1/own/'.length)]);
      const [status, answer] = lookUps[Math.min(asked, lookUps.length - 1)] ?? BROKEN;
      asked += 1;
      const told = JSON.stringify(answer).replace('{reference}', references[0] ?? '');
      response.writeHead(status).end(told);
    } else if (url === '/v1/jobs/job-1') {
      response.end(JSON.stringify({ state: 'completed', video: `${vendor.url}/a.mp4` }));
    } else response.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4);
  };
  const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
  writeFileSync(join(folder, 'acme.json'), JSON.stringify(vendorFile()));
  const catalog = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  const model = {
    ...{ id: 'vid-acme', operation: 'video', limits: { max_image_urls: 0 } },
    routes: [{ provider: 'acme', upstream_model: 'm' }],
    price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(PRICE) }] },
  };
  writeFileSync(catalog, JSON.stringify({ models: [model] }));
  process.env.ACME_TEST_KEY = 'a-key-of-the-vendor';
  gateway = await startTestGateway({
    ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: catalog, EGRESS_ALLOW: '127.0.0.1' },
    ...{ TASK_TICK_MS: '20', TASK_POLL_INTERVAL_MS: '10' },
  });
});
beforeEach(() => {
  references = [];
  asked = 0;
});
afterAll(async () => {
  delete process.env.ACME_TEST_KEY;
  await gateway.stop();
  await vendor.stop();
});

async function submitted() {
  const videos = await VideoHarness.open(gateway, CREDIT);
  const { id } = await videos.submitted({ model: 'vid-acme', prompt: 'The sea' });
  const money = () => gateway.balance(videos.account.accountId);
  return { videos, id, money };
}

describe('a submission whose answer was lost, at a vendor that knows our reference', () => {
  it('is found, made and charged once', async () => {
    lookUps = [BROKEN, NONE, FOUND];
    const { videos, id, money } = await submitted();
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect((await videos.get(`videos/${id}/content`)).bytes).toEqual(MP4);
    expect(await money()).toMatchObject({ available: CREDIT - PRICE, held: 0n });
    expect([references.length, asked]).toEqual([1, 3]);
    await gateway.expectCleanBooks();
  });

  it.each([
    ['says each time that it has no such job', NONE, 'no_such_job'],
    [
      'says that with a status of its own fault',
      [503, { code: 'no_such_job' }] as const,
      undefined,
    ],
    ['gives the job of another reference', ANOTHER, undefined],
  ])('keeps its hold where the vendor %s, and is never sent again', async (_what, answer, code) => {
    lookUps = [answer];
    const { videos, id, money } = await submitted();
    await videos.unknown(id);
    expect(await money()).toMatchObject({ available: CREDIT - PRICE, held: PRICE });
    expect([references.length, asked]).toEqual([1, 11]);
    const [task] = await gateway.dataSource.query<{ provider_fault: { code: string } | null }[]>(
      'SELECT provider_fault FROM task ORDER BY created_at DESC LIMIT 1',
    );
    if (code !== undefined) expect(task?.provider_fault).toMatchObject({ code });
    else expect(task?.provider_fault?.code).not.toBe('no_such_job');
  });

  it('keeps its hold where the vendor does not say', async () => {
    lookUps = [BROKEN];
    const { videos, id, money } = await submitted();
    await videos.unknown(id);
    expect(await money()).toMatchObject({ available: CREDIT - PRICE, held: PRICE });
    expect(references).toHaveLength(1);
    expect(asked).toBeGreaterThan(3);
  });
});

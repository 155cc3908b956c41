import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import { MADE_VIDEO } from '../../support/keyed-vendor.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { VideoHarness } from '../../support/video-harness.js';

const CREDIT = 1_000_000n;
const PRICE = 320_000n;
const PATH = '/v1/videos/text2video';
const NONE_KNOWN = '1203';

type Answer = readonly [status: number, body: object | string];
const BAD_GATEWAY: Answer = [503, '<html>503 Service Temporarily Unavailable</html>'];
const CLIENT_GONE: Answer = [499, ''];
const PARALLEL: Answer = [429, { code: 1303, message: 'parallel task over resource pack limit' }];
const REFUSED: Answer = [400, { code: 1201, message: 'external_task_id is duplicated' }];
const CONTENT: Answer = [400, { code: 1301, message: 'Content policy' }];
const NO_TASK: Answer = [404, { code: Number(NONE_KNOWN), message: 'Task not found' }];
const BROKEN: Answer = [500, '<html>500</html>'];

let kling: StubUpstream;
let gateway: TestGateway;
/** What is said to submissions, the next one first; the last one stays. So to look-ups. */
let submissions: readonly Answer[];
let lookUps: readonly (Answer | 'found')[];
let sent: string[];
let asked: number;

const at = <T>(answers: readonly T[], index: number): T =>
  answers[Math.min(index, answers.length - 1)] as T;
const taskOf = (reference: string, rest: object) => ({
  ...{ code: 0, message: 'SUCCEED', request_id: 'c0ffee' },
  data: { task_id: '8712', task_info: { external_task_id: reference }, ...rest },
});

/** Kling as it is shipped, and Kling whose file learns a code that means that there is no such task. */
function vendorsFolder(): string {
  const file = loadVendors(undefined).get('kling');
  if (!file?.lookup) throw new Error('Kling has a look-up');
  const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
  const played = {
    ...file,
    base_url: kling.url,
    lookup: { ...file.lookup, absent: [NONE_KNOWN] },
  };
  writeFileSync(join(folder, 'kling.json'), JSON.stringify(played));
  const shipped = { ...file, id: 'kling-shipped', base_url: kling.url };
  writeFileSync(join(folder, 'kling-shipped.json'), JSON.stringify(shipped));
  return folder;
}

function catalogFile(): string {
  const catalog = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  const models = ['kling', 'kling-shipped'].map((provider) => ({
    ...{ id: `vid-${provider}`, operation: 'video', limits: { max_image_urls: 0 } },
    routes: [{ provider, upstream_model: 'kling-v2-6' }],
    price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(PRICE) }] },
  }));
  writeFileSync(catalog, JSON.stringify({ models }));
  return catalog;
}

function answer(method: string, url: string, body: Buffer): Answer {
  if (method === 'POST') {
    const { external_task_id: reference } = JSON.parse(body.toString()) as Record<string, string>;
    sent.push(reference ?? '');
    return at(submissions, sent.length - 1);
  }
  if (url === `${PATH}/8712`) {
    const videos = [{ id: '1', url: `${kling.url}/a.mp4`, duration: '5' }];
    return [200, taskOf('', { task_status: 'succeed', task_result: { videos } })];
  }
  // The task of a test before is asked for on.
  if (url !== `${PATH}/${sent[0]}`) return BROKEN;
  const said = at(lookUps, asked);
  asked += 1;
  return said === 'found' ? [200, taskOf(sent[0] ?? '', { task_status: 'submitted' })] : said;
}

beforeAll(async () => {
  kling = await StubUpstream.start();
  kling.reply = (response, { method, url, body }) => {
    if (url === '/a.mp4') {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(MADE_VIDEO);
      return;
    }
    const [status, said] = answer(method, url, body);
    response.writeHead(status).end(typeof said === 'string' ? said : JSON.stringify(said));
  };
  process.env.KLING_KEYS = 'access-1:secret-of-a-vendor';
  gateway = await startTestGateway({
    ...{ SANDBOX: 'off', VENDORS_DIR: vendorsFolder(), CATALOG_FILE: catalogFile() },
    ...{ EGRESS_ALLOW: '127.0.0.1', TASK_TICK_MS: '20', TASK_POLL_INTERVAL_MS: '10' },
  });
});
beforeEach(() => {
  sent = [];
  asked = 0;
  lookUps = [BROKEN];
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  delete process.env.KLING_KEYS;
  await gateway.stop();
  await kling.stop();
});

async function submitted(model = 'vid-kling') {
  const videos = await VideoHarness.open(gateway, CREDIT);
  const { id } = await videos.submitted({ model, prompt: 'The sea' });
  return { videos, id };
}

describe('a submission that was put off, and whose repeat Kling refuses', () => {
  it.each([
    ['a proxy said 503', BAD_GATEWAY],
    ['a proxy said 499', CLIENT_GONE],
  ])(
    'goes on with the job that Kling has of it after %s, and is charged once (G-117)',
    async (_what, first) => {
      submissions = [first, REFUSED];
      lookUps = ['found'];
      const { videos, id } = await submitted();
      expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
      expect((await videos.content(id)).bytes).toEqual(MADE_VIDEO);
      expect(await videos.balance()).toMatchObject({ available: CREDIT - PRICE, held: 0n });
      expect([sent.length, asked]).toEqual([2, 1]);
    },
  );

  it('fails, free, where Kling says that it has no such job', async () => {
    submissions = [BAD_GATEWAY, REFUSED];
    lookUps = [NO_TASK];
    const { videos, id } = await submitted();
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    expect([sent.length, asked]).toEqual([2, 1]);
  });

  it('keeps its hold while Kling does not say, and is delivered once it does', async () => {
    submissions = [BAD_GATEWAY, REFUSED];
    const { videos, id } = await submitted();
    await videos.unknown(id);
    expect(await videos.balance()).toMatchObject({ available: CREDIT - PRICE, held: PRICE });
    expect(asked).toBeGreaterThanOrEqual(11);
    lookUps = ['found'];
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT - PRICE, held: 0n });
    expect(sent).toHaveLength(2);
  });

  it('goes on with its job where Kling tells it at the second look-up', async () => {
    submissions = [BAD_GATEWAY, REFUSED];
    lookUps = [BROKEN, 'found'];
    const { videos, id } = await submitted();
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    expect([sent.length, asked]).toEqual([2, 2]);
  });

  it('fails without a look-up where Kling itself had no room, which begins no job', async () => {
    submissions = [PARALLEL, CONTENT];
    const { videos, id } = await submitted();
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    expect([sent.length, asked]).toEqual([2, 0]);
  });

  it('fails without a look-up where Kling refuses its content, as the shipped file knows no code of a lacking job', async () => {
    submissions = [BAD_GATEWAY, CONTENT];
    const { videos, id } = await submitted('vid-kling-shipped');
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    expect([sent.length, asked]).toEqual([2, 0]);
  });
});

describe('a first submission that Kling refuses', () => {
  it('fails without a look-up', async () => {
    submissions = [REFUSED];
    const { videos, id } = await submitted();
    expect(await videos.ended(id)).toMatchObject({ status: 'failed' });
    expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
    expect([sent.length, asked]).toEqual([1, 0]);
  });
});

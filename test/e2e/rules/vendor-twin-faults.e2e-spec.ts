import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../support/admin-harness.js';
import type { TestGateway } from '../../support/gateway.js';
import { startTwinGateway, TWIN_PRICE } from '../../support/twin-gateway.js';
import { until } from '../../support/until.js';
import { VideoHarness } from '../../support/video-harness.js';

const FUNDS = 5_000_000n;
/** One that gives an id, one that gives URLs and has a second question for the result, and one that fetches the file with the key. */
const VENDORS = ['luma', 'fal', 'replicate'];
/** Those that can be asked for a lost job: by our reference, or by its time. */
const CAN_FIND = ['kling', 'luma', 'replicate'];
const SUCCEEDED = [
  'slow=20',
  'delay=50',
  'poll=500]] [[sandbox:polls=2',
  'poll=hang]] [[sandbox:polls=1',
  'poll=huge]] [[sandbox:polls=1',
  'poll=html]] [[sandbox:polls=1',
  'task-progress=101',
  'file=500]] [[sandbox:files=1',
  'file=huge]] [[sandbox:files=1',
  'url',
];
const FAILED = [
  'status=400',
  'status=422',
  'task-fails',
  'task-fails]] [[sandbox:late-success=400',
];
/** Nobody knows whether the vendor has begun. */
const UNKNOWN = ['reset', 'hang', 'html', 'json', 'empty', 'huge', 'file=huge', 'no-result'];

let gateway: TestGateway;
let admin: AdminHarness;

beforeAll(async () => {
  gateway = await startTwinGateway({
    UPSTREAM_TIMEOUT_MS: '2000',
    TASK_POLL_INTERVAL_MS: '10',
  });
  admin = await AdminHarness.start(gateway);
});
afterAll(() => admin.stop());

/** How often the vendor took the work. */
async function ordersOf(prompt: string): Promise<number> {
  const jobs = (await gateway.sandbox?.jobs(1_000)) ?? [];
  return jobs.find(({ label }) => label === prompt)?.submissions ?? 0;
}

async function submitted(vendor: string, words: string) {
  const videos = await VideoHarness.open(gateway, FUNDS);
  const prompt = `A boat ${words} [[sandbox:task-ms=200]] [[sandbox:${words}]]`;
  const { id } = await videos.submitted({ model: `vid-${vendor}`, seconds: '2', prompt });
  return { videos, prompt, id };
}

type Submitted = Awaited<ReturnType<typeof submitted>>;

/** What became of a job under each of the words, all at once. */
function outcomes(
  vendor: string,
  words: readonly string[],
  endOf: (job: Submitted) => Promise<unknown>,
) {
  return Promise.all(
    words.map(async (word) => {
      const job = await submitted(vendor, word);
      const end = await endOf(job);
      const { available, held } = await job.videos.balance();
      return { word, end, available, held, orders: await ordersOf(job.prompt) };
    }),
  );
}

const statusOf = async ({ videos, id }: Submitted) => {
  const { status } = await videos.ended(id);
  const { bytes } = await videos.content(id);
  return `${status}, ${bytes.toString('latin1', 4, 8) === 'ftyp' ? 'a video' : 'no video'}`;
};

describe.each(VENDORS)('the twin of %s', (vendor) => {
  it('under faults that pass makes a video that is charged once', async () => {
    const expected = { end: 'completed, a video', available: FUNDS - TWIN_PRICE, held: 0n };
    expect(await outcomes(vendor, SUCCEEDED, statusOf)).toEqual(
      SUCCEEDED.map((word) => ({ word, ...expected, orders: 1 })),
    );
  });

  it('under a failure fails, and nothing is charged', async () => {
    const expected = { end: 'failed, no video', available: FUNDS, held: 0n };
    expect(await outcomes(vendor, FAILED, statusOf)).toEqual(
      FAILED.map((word) => ({ word, ...expected, orders: word.startsWith('task') ? 1 : 0 })),
    );
  });

  it('under a fault of which nobody knows the outcome keeps the hold, and is not asked again', async () => {
    const jobs: Submitted[] = [];
    const words = CAN_FIND.includes(vendor) ? UNKNOWN : [...UNKNOWN, 'lost-answer'];
    const found = await outcomes(vendor, words, async (job) => {
      jobs.push(job);
      await job.videos.unknown(job.id);
      return (await admin.get(`/tasks/${job.id}`)).status;
    });
    const expected = { end: 200, available: FUNDS - TWIN_PRICE, held: TWIN_PRICE };
    const orders = (word: string): number => (/lost|no-result|file/.test(word) ? 1 : 0);
    expect(found).toEqual(words.map((word) => ({ word, ...expected, orders: orders(word) })));
    for (const { id } of jobs) await admin.post(`/tasks/${id}/resolve`, { outcome: 'failed' });
  });

  it('that says an odd word keeps the hold until it says a known one', async () => {
    const words = 'task-state=pondering]] [[sandbox:task-ms=1500';
    const { videos, id } = await submitted(vendor, words);
    const seen = async () => (await admin.get(`/tasks/${id}`)).json as { unknown_state: string };
    await until(async () => (await seen()).unknown_state === 'pondering');
    expect(await videos.balance()).toMatchObject({ held: TWIN_PRICE });
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
  });
});

describe('the twin of a vendor that can be asked for a lost job', () => {
  it.each(CAN_FIND)(
    'tells that of %s, so that the video is made and charged once',
    async (vendor) => {
      const { videos, prompt, id } = await submitted(vendor, 'lost-answer');
      expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
      expect(await videos.balance()).toMatchObject({ available: FUNDS - TWIN_PRICE, held: 0n });
      expect(await ordersOf(prompt)).toBe(1);
    },
  );
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { UnchargedQuantity } from '../../../src/common/money/charge-basis.js';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import { FalQueue, LONG_WAIT } from './fal-queue.js';
import { vendor, vendorPorts } from './vendor-harness.js';

const MODEL = 'fal-ai/flux/dev';
const shipped = loadVendors(undefined).get('fal-image');

let queue: FalQueue;
let made: UnchargedQuantity[];
beforeEach(() => {
  queue = new FalQueue(vendor);
  queue.statuses = [queue.done];
  made = [];
});

/** The failure of a call of the shipped file, whose vendor is played here. */
async function failure(terms = LONG_WAIT): Promise<unknown> {
  const { image } = vendorPorts({ ...shipped, base_url: vendor.url });
  const { signal } = new AbortController();
  const onMade = (quantity: UnchargedQuantity) => made.push(quantity);
  const owner = { signal, accountId: null, onMade };
  const context = { upstreamModel: MODEL, terms, signal, owner };
  const making = image?.generateImage({ prompt: 'The sea', count: 1 }, context);
  return making?.then(
    () => undefined,
    (error: unknown) => error,
  );
}
const results = () => queue.asked.filter((one) => one === 'GET ').length;

describe('images of a job', () => {
  const requestIdOf = async (parts: Partial<VendorFile>): Promise<unknown> => {
    const { image } = vendorPorts({ ...parts, operation: 'image' });
    const context = {
      upstreamModel: MODEL,
      terms: LONG_WAIT,
      signal: new AbortController().signal,
    };
    const made = await image?.generateImage({ prompt: 'The sea', count: 1 }, context);
    return made?.providerRequestId;
  };

  it('have the id that fal gave the request', async () => {
    queue.accepted = (response) =>
      response
        .writeHead(200, { 'x-fal-request-id': 'r1' })
        .end(JSON.stringify({ request_id: 'r1', status: 'IN_QUEUE', ...queue.urls }));
    queue.result = [200, { images: [{ url: 'https://cdn.test/1.png' }] }];
    expect(await requestIdOf({ ...shipped, base_url: vendor.url })).toBe('r1');
  });

  it('have no URL as the id of their request', async () => {
    queue.result = [200, { images: [{ url: 'https://cdn.test/1.png' }] }];
    expect(await requestIdOf({ ...shipped, base_url: vendor.url })).toBeNull();
  });

  it('have the id of the job where the request has none', async () => {
    const job = { id: 'job_7', state: 'completed', assets: { video: 'https://cdn.test/1.png' } };
    vendor.reply = (response) => response.end(JSON.stringify(job));
    const submit = { path: '/images', body: { prompt: '{{prompt}}' }, id: 'id' };
    expect(await requestIdOf({ submit })).toBe('job_7');
  });
});

describe('the result of a job of fal', () => {
  it('that refuses the input is a refusal, also by a code that no file maps', async () => {
    const detail = [{ loc: ['body', 'prompt'], msg: 'No', type: 'string_too_long' }];
    queue.result = [422, { detail }];
    expect(await failure()).toMatchObject({
      ...{ kind: 'rejected', upstreamStatus: 422, publicCode: 'string_too_long' },
      ...{ isPartial: true, safeToFailover: false },
    });
    expect(queue.asked).toEqual([`POST /${MODEL}`, 'GET /status', 'GET ']);
    expect(made).toEqual([]);
  });

  it.each([
    [500, 'http_error'],
    [400, 'rejected'],
  ])(
    'that is answered with %i is asked for ten times, and no longer',
    async (status, kind) => {
      queue.result = [status, { detail: 'Oops' }];
      expect(await failure()).toMatchObject({ kind, upstreamStatus: status, isPartial: true });
      expect(results()).toBe(10);
      expect(made).toEqual([]);
    },
    60_000,
  );

  it('is not asked for before the time that the vendor names', async () => {
    const askedAtMs: number[] = [];
    queue.result = (response) => {
      askedAtMs.push(performance.now());
      if (askedAtMs.length === 2) queue.result = [422, { detail: 'No' }];
      response.writeHead(429, { 'retry-after': '3' }).end();
    };
    expect(await failure()).toMatchObject({ kind: 'rejected' });
    const [first = 0, next = 0] = askedAtMs;
    expect(next - first).toBeGreaterThanOrEqual(2_900);
  }, 30_000);

  it('that does not come in the time of the row is a timeout, and the job is stopped', async () => {
    queue.statuses = [queue.waiting];
    expect(await failure({ timeoutMs: 1_000 })).toMatchObject({
      ...{ kind: 'timeout', upstreamCode: 'job_timeout', isPartial: true, safeToFailover: false },
    });
    await queue.untilCancelled();
    expect([queue.submissions, results()]).toEqual([1, 0]);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import type { UnchargedQuantity } from '../../../src/common/money/charge-basis.js';
import { loadVendors } from '../../../src/providers/async-json/vendor-files.js';
import { FalQueue, WAITING } from './fal-queue.js';
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
async function failure(terms = WAITING): Promise<unknown> {
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

  it('that does not come in the time of the row is a timeout, and the job is stopped', async () => {
    queue.statuses = [queue.waiting];
    expect(await failure({ timeoutMs: 1_000 })).toMatchObject({
      ...{ kind: 'timeout', upstreamCode: 'job_timeout', isPartial: true, safeToFailover: false },
    });
    await queue.untilCancelled();
    expect([queue.submissions, results()]).toEqual([1, 0]);
  });
});

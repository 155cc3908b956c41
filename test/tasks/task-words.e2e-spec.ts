import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TaskVendors, type TaskVendorKind } from '../support/task-vendors.js';

let harness: TaskVendors;
beforeAll(async () => {
  harness = await TaskVendors.open();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

describe('a submission that a proxy answers with a word of overload', () => {
  it.each([
    ['video', 502],
    ['video', 504],
    ['video', 524],
    ['song', 502],
    ['dub', 504],
  ] as const)('as a %s with %i may have arrived, and is sent once', async (kind, status) => {
    const message = 'The server is overloaded. Please try again later.';
    harness.submission = { status, body: { error: { code: 'overloaded', message } } };
    expect(await harness.ended(await harness.submit(kind))).toMatchObject({
      task_status: 'reconciliation_required',
      provider_error: { status, message },
      error: null,
    });
    expect([harness.orders, await harness.held()]).toEqual([1, expect.any(BigInt)]);
  });
});

describe('a submission that a provider puts off', () => {
  it.each([429, 499, 503, 529])('with %i is sent again, and accepted then', async (status) => {
    harness.submission = {
      status,
      body: { error: { code: 'overloaded', message: 'Try again later.' } },
    };
    harness.polled = { status: 'failed' };
    const id = await harness.submit('video');
    while (harness.orders === 0) await sleep(20);
    harness.submission = {};
    expect(await harness.ended(id)).toMatchObject({ task_status: 'failed' });
    expect(harness.orders).toBeGreaterThan(1);
  });
});

/** Each with the facts that the kind needs besides the word. */
const FINISHED: Readonly<Record<TaskVendorKind, (status: string) => object>> = {
  video: (status) => ({ id: 'job-1', status, progress: 100 }),
  dub: (status) => ({ dubbing_id: 'job-1', status, media_metadata: { duration: 5 } }),
  song: (status) => ({
    status,
    data: { musics: [{ musicId: 'm-1', audioUrl: `${harness.url}/a.wav`, duration: '5' }] },
  }),
};

describe('a job whose provider says with a word of its own that it is done', () => {
  const words = ['succeeded', 'success', 'READY', 'done', 'Complete', 'finished', 'Completed'];
  const cases = (['video', 'dub', 'song'] as const).flatMap((kind) =>
    words.map((word) => [kind, word] as const),
  );
  it.each(cases)('as a %s with "%s" has succeeded', async (kind, word) => {
    harness.polled = FINISHED[kind](word);
    expect(await harness.ended(await harness.submit(kind))).toMatchObject({
      task_status: 'succeeded',
      unknown_state: null,
      error: null,
    });
    expect(await harness.held()).toBe(0n);
  });
});

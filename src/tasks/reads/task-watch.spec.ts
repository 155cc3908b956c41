import { describe, expect, it } from '@jest/globals';
import { TaskWatch, type WatchedState } from './task-watch.js';

const QUEUED = { status: 'queued', progress: null } as const;

function watchOf(state: WatchedState = QUEUED) {
  const closes: number[] = [];
  const watch = new TaskWatch({ id: 't', accountId: 'a', ...state }, () => closes.push(1));
  return { watch, closes };
}

/** Whether the promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe('the watch of a task', () => {
  it('tells a slow client of many changes once', async () => {
    const { watch } = watchOf();
    for (let progress = 0; progress < 100; progress++) {
      watch.compare({ status: 'processing', progress });
    }
    expect(await watch.change()).toBe(true);
    const next = watch.change();
    expect(await isSettled(next)).toBe(false);
    watch.wake();
    expect(await next).toBe(true);
  });

  it('tells nothing of what the client knows', async () => {
    const { watch } = watchOf();
    watch.compare(QUEUED);
    watch.compare(undefined);
    const next = watch.change();
    expect(await isSettled(next)).toBe(false);
    watch.knows({ status: 'processing', progress: 5 });
    watch.compare({ status: 'processing', progress: 5 });
    expect(await isSettled(next)).toBe(false);
    watch.compare({ status: 'processing', progress: 6 });
    expect(await next).toBe(true);
  });

  it('ends for whoever waits and whoever comes later', async () => {
    const { watch, closes } = watchOf();
    const waiting = watch.change();
    watch.close();
    watch.close();
    expect([await waiting, await watch.change()]).toEqual([false, false]);
    expect(closes.length).toBeGreaterThan(0);
  });
});

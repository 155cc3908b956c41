import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventLoopPacer as FormerPacer } from '../http-server/load-shedding/event-loop-pacer.js';
import type { RequestPriority } from '../http-server/load-shedding/request-priority.js';
import { BodyPace } from '../../providers/http/body-pace.js';
import { EventLoopPacer } from './event-loop-pacer.js';

const PER_ITERATION = 16;

interface Pacer {
  mayBegin(): boolean;
  wait(begin: () => void, bucket: RequestPriority): void;
}

interface Begun {
  readonly id: number;
  readonly bucket: RequestPriority;
  readonly iteration: number;
  readonly hasWaited: boolean;
}

const histories = fc.array(
  fc.array(fc.constantFrom<RequestPriority>('calls', 'reads', 'others'), { maxLength: 60 }),
  { maxLength: 12 },
);

/** Gives a pacer the arrivals of each iteration. */
async function begunBy(pacer: Pacer, history: readonly RequestPriority[][]): Promise<Begun[]> {
  const begun: Begun[] = [];
  let iteration = 0;
  let arrived = 0;
  for (; iteration < history.length || begun.length < arrived; iteration += 1) {
    for (const bucket of history[iteration] ?? []) {
      const id = arrived++;
      const begin = (hasWaited: boolean) => () => begun.push({ id, bucket, iteration, hasWaited });
      if (pacer.mayBegin()) begin(false)();
      else pacer.wait(begin(true), bucket);
    }
    await nextIteration();
  }
  return begun;
}

describe('EventLoopPacer', () => {
  it('begins the same callbacks at once as the former pacer, and the others one iteration earlier', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const pacer = new EventLoopPacer(PER_ITERATION);
        const now = await begunBy(
          { mayBegin: () => pacer.mayBegin(), wait: (begin, bucket) => pacer.wait(bucket, begin) },
          history,
        );
        const former = await begunBy(new FormerPacer(), history);
        const atOnce = (all: Begun[]) => all.filter(({ hasWaited }) => !hasWaited);
        expect(atOnce(now)).toEqual(atOnce(former));
        for (const bucket of ['calls', 'reads', 'others']) {
          const ids = (all: Begun[]) =>
            all.filter((one) => one.bucket === bucket).map(({ id }) => id);
          expect(ids(now)).toEqual(ids(former));
        }
        const waited = (all: Begun[], later: number) =>
          all.filter(({ hasWaited }) => hasWaited).map(({ iteration }) => iteration + later);
        expect(waited(now, 1)).toEqual(waited(former, 0));
      }),
    );
  });

  it('lets answers of providers read on in the same order as the former pace, at most one read earlier', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const READ_BYTES = 64 * 1024;
        const pacer = new EventLoopPacer(2);
        const now = await begunBy(
          { mayBegin: () => pacer.mayBegin(), wait: (begin, bucket) => pacer.wait(bucket, begin) },
          history,
        );
        const pace = new BodyPace();
        const former = await begunBy(
          {
            mayBegin: () => pace.take(READ_BYTES),
            wait: (begin, bucket) => pace.wait(bucket, begin),
          },
          history,
        );
        for (const bucket of ['calls', 'reads', 'others']) {
          const ids = (all: Begun[]) =>
            all.filter((one) => one.bucket === bucket).map(({ id }) => id);
          expect(ids(now)).toEqual(ids(former));
        }
        const last = (all: Begun[]) => Math.max(0, ...all.map(({ iteration }) => iteration));
        expect(last(now)).toBeLessThanOrEqual(last(former));
        expect(last(former) - last(now)).toBeLessThanOrEqual(history.length);
      }),
    );
  });
});

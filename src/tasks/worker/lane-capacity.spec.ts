import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Task } from '../task.js';
import { LANE_CONCURRENCY, SHARE_OF_FREE } from '../task-lane.js';
import { LaneCapacity } from './lane-capacity.js';
import type { ClaimedWork } from './task-work.repository.js';

/** A step of an account in lane `collect/<provider>` or `watch/<provider>`. */
interface Step {
  readonly phase: 'collecting' | 'watching';
  readonly provider: string;
  readonly accountId: string;
}

const LANES = { collecting: 'collect', watching: 'watch' } as const;

const steps = fc.record<Step>({
  phase: fc.constantFrom('collecting', 'watching'),
  provider: fc.constantFrom('one', 'two'),
  accountId: fc.constantFrom('a', 'b', 'c'),
});

/** Starts of steps, and ends of the n-th running step. */
const histories = fc.array(fc.oneof(steps, fc.nat(40)), { maxLength: 80 });

const workOf = ({ phase, provider, accountId }: Step): ClaimedWork =>
  ({ phase, task: { provider, accountId } as Task }) as ClaimedWork;
const laneOf = ({ phase, provider }: Step): string => `${LANES[phase]}/${provider}`;
const limitOf = (lane: string): number =>
  LANE_CONCURRENCY[lane.startsWith('collect') ? 'collect' : 'watch'];

function countsBy(running: readonly Step[], nameOf: (step: Step) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const step of running) counts.set(nameOf(step), (counts.get(nameOf(step)) ?? 0) + 1);
  return counts;
}

function expectCounts(capacity: LaneCapacity, running: readonly Step[]): void {
  const lanes = countsBy(running, laneOf);
  const free = (lane: string): number => limitOf(lane) - (lanes.get(lane) ?? 0);
  expect(capacity.available()).toEqual(
    new Map([...lanes.keys()].map((lane) => [lane, free(lane)])),
  );
  const accounts = [...countsBy(running, (step) => `${laneOf(step)} ${step.accountId}`)].map(
    ([name, count]) => {
      const [lane = '', accountId = ''] = name.split(' ');
      return { lane, accountId, count };
    },
  );
  const large = accounts.filter(({ lane, count }) => count > limitOf(lane) / 16);
  const inOrder = (all: object[]) => all.map((one) => JSON.stringify(one)).sort();
  expect(inOrder(capacity.inUse())).toEqual(inOrder(large));
  const used = accounts.filter(({ lane, count }) => count >= SHARE_OF_FREE * free(lane));
  expect(new Set(capacity.usedUp())).toEqual(new Set(used.map(({ lane }) => lane)));
  for (const [lane, count] of lanes) expect(capacity.inUseOf(lane)).toBe(count);
  expect(capacity.inUseOf('poll/one')).toBe(0);
}

describe('LaneCapacity', () => {
  it('counts the running steps of lanes and accounts for any history, and so does its snapshot', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const capacity = new LaneCapacity();
        const running: Step[] = [];
        for (const event of history) {
          if (typeof event === 'object') {
            capacity.acquire(workOf(event));
            running.push(event);
          } else if (running.length > 0) {
            const [ended] = running.splice(event % running.length, 1);
            if (ended) capacity.release(workOf(ended));
          }
        }
        const copy = capacity.copy();
        expectCounts(copy, running);
        expectCounts(capacity, running);
        for (const step of running) capacity.release(workOf(step));
        expectCounts(capacity, []);
        expectCounts(copy, running);
      }),
    );
  });
});

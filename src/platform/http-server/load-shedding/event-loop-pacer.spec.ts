import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { RequestPriority } from './request-priority.js';
import { EventLoopPacer } from './event-loop-pacer.js';

function run(pace: EventLoopPacer, begin: () => void, lane?: RequestPriority): void {
  if (pace.mayBegin()) begin();
  else pace.wait(begin, lane);
}

it('begins requests in their order, at most 16 in one turn of the event loop', async () => {
  const pace = new EventLoopPacer();
  const begun: number[] = [];
  const ofTurns: number[] = [];
  for (let index = 0; index < 100; index++) {
    run(pace, () => begun.push(index));
  }
  while (begun.length < 100) {
    const before = begun.length;
    await nextTurn();
    ofTurns.push(begun.length - before);
  }
  expect(begun).toEqual(Array.from({ length: 100 }, (_, index) => index));
  expect(Math.max(...ofTurns)).toBeLessThanOrEqual(16);
});

it('begins at once what comes when nothing waits', async () => {
  const pace = new EventLoopPacer();
  for (let turn = 0; turn < 3; turn++) {
    let begun = 0;
    for (let index = 0; index < 16; index++) run(pace, () => begun++);
    expect(begun).toBe(16);
    await nextTurn();
    await nextTurn();
  }
});

it('begins what comes later after what has waited', async () => {
  const pace = new EventLoopPacer();
  const begun: number[] = [];
  for (let index = 0; index < 20; index++) run(pace, () => begun.push(index));
  while (begun.length < 21) {
    await nextTurn();
    if (begun.length === 16) run(pace, () => begun.push(20));
  }
  expect(begun).toEqual(Array.from({ length: 21 }, (_, index) => index));
});

it('lets lanes that wait take turns, whatever waits in the others', async () => {
  const pace = new EventLoopPacer();
  let reads = 0;
  let calls = 0;
  for (let index = 0; index < 1_000; index++) run(pace, () => reads++, 'reads');
  for (let index = 0; index < 20; index++) run(pace, () => calls++, 'calls');
  while (calls < 20) await nextTurn();
  expect(reads).toBeLessThan(100);
  while (reads < 1_000) await nextTurn();
});

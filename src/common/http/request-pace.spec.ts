import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { RequestPace } from './request-pace.js';

it('begins requests in their order, at most 16 in one turn of the event loop', async () => {
  const pace = new RequestPace();
  const begun: number[] = [];
  const ofTurns: number[] = [];
  for (let index = 0; index < 100; index++) {
    pace.run(() => begun.push(index));
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
  const pace = new RequestPace();
  for (let turn = 0; turn < 3; turn++) {
    let begun = 0;
    for (let index = 0; index < 16; index++) pace.run(() => begun++);
    expect(begun).toBe(16);
    await nextTurn();
    await nextTurn();
  }
});

it('begins what comes later after what has waited', async () => {
  const pace = new RequestPace();
  const begun: number[] = [];
  for (let index = 0; index < 20; index++) pace.run(() => begun.push(index));
  while (begun.length < 21) {
    await nextTurn();
    if (begun.length === 16) pace.run(() => begun.push(20));
  }
  expect(begun).toEqual(Array.from({ length: 21 }, (_, index) => index));
});

/** Runs noted requests that may be refused, on a clock that the test moves. */
function crowd(count: number) {
  const clock = { ms: 0 };
  const pace = new RequestPace(() => clock.ms);
  const begun: number[] = [];
  const refused: number[] = [];
  for (let index = 0; index < count; index++) {
    pace.run(
      () => begun.push(index),
      () => refused.push(index),
    );
  }
  return { clock, pace, begun, refused };
}

it('serves a crowd of a thousand that comes at once, however long they wait', async () => {
  const { clock, begun, refused } = crowd(1_000);
  while (begun.length < 1_000) {
    clock.ms += 1_000;
    await nextTurn();
  }
  expect(refused).toEqual([]);
});

it('refuses what has waited for too long when more keeps coming than can begin', async () => {
  const { clock, pace, begun, refused } = crowd(2_500);
  while (refused.length === 0) await nextTurn(void (clock.ms += 16));
  while (begun.length + refused.length < 2_500) await nextTurn();
  expect(begun.length).toBeGreaterThan(1_000);
  expect(refused.length).toBeGreaterThan(0);
  // Afterwards everything is served again.
  await nextTurn();
  await nextTurn();
  let later = 0;
  for (let index = 0; index < 100; index++) {
    pace.run(
      () => later++,
      () => refused.push(index),
    );
  }
  const before = refused.length;
  while (later < 100) await nextTurn(void (clock.ms += 1_000));
  expect(refused.length).toBe(before);
});

it('begins in their order those that may not be refused', async () => {
  const { clock, pace, begun } = crowd(2_500);
  const reads: number[] = [];
  for (let index = 0; index < 500; index++) pace.run(() => reads.push(index));
  while (reads.length < 500) await nextTurn(void (clock.ms += 16));
  expect(reads).toEqual(Array.from({ length: 500 }, (_, index) => index));
  expect(begun.length).toBeLessThan(2_500);
});

it('begins no more than there is room for while too much has come, and reads all the same', async () => {
  const { clock, pace, begun, refused } = crowd(2_500);
  pace.room = () => 0;
  let reads = 0;
  for (let index = 0; index < 50; index++) pace.run(() => reads++);
  while (reads < 50) await nextTurn(void (clock.ms += 16));
  expect(refused.length).toBeGreaterThan(0);
  expect(begun.length).toBeLessThan(1_200);
});

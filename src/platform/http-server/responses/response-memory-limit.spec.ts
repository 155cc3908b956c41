import { expect, it } from '@jest/globals';
import { disconnectSlowest } from './response-memory-limit.js';

const MAX_BYTES = 100;

/** Which clients are disconnected, of clients given as bucket, unread bytes and taken bytes. */
function disconnectedBy(readers: readonly (readonly [string, number, number])[]): number[] {
  const disconnected: number[] = [];
  let reported = 0;
  const answers = readers.map(([bucket, unreadBytes, takenBytes], index) => ({
    bucket,
    unreadBytes,
    takenBytes,
    disconnect: () => disconnected.push(index),
  }));
  disconnectSlowest(answers, {
    maxBytes: MAX_BYTES,
    onDisconnected: (count) => (reported += count),
  });
  expect(reported).toBe(disconnected.length);
  return disconnected;
}

it('disconnects no client within the limit', () => {
  expect(
    disconnectedBy([
      ['a', 60, 0],
      ['b', 40, 0],
    ]),
  ).toEqual([]);
});

it('disconnects clients of the bucket with the most bytes, the slowest first, until the rest fits', () => {
  const readers = [
    ['a', 40, 9],
    ['a', 40, 0],
    ['a', 40, 5],
    ['b', 50, 0],
  ] as const;
  expect(disconnectedBy(readers)).toEqual([1, 2]);
});

it('disconnects no client of a bucket with less than an equal share, however slow it is', () => {
  const attack = Array.from({ length: 50 }, () => ['attacker', 10, 1] as const);
  const disconnected = disconnectedBy([...attack, ['victim', 45, 0]]);
  expect(disconnected).toHaveLength(45);
  expect(disconnected).not.toContain(50);
});

it('levels the holders down to each other', () => {
  const of = (bucket: string, count: number) =>
    Array.from({ length: count }, () => [bucket, 10, 0] as const);
  const disconnected = disconnectedBy([...of('a', 12), ...of('b', 8), ...of('c', 2)]);
  const left = 22 - disconnected.length;
  expect(left).toBe(10);
  expect(disconnected.filter((index) => index < 12)).toHaveLength(8);
  expect(disconnected.filter((index) => index >= 20)).toEqual([]);
});

import { expect, it } from '@jest/globals';
import { disconnectSlowest } from './response-memory-limit.js';

const MAX_BYTES = 100;

/** Who is cut of readers that are each given as holder, unread bytes and taken bytes. */
function cutOf(readers: readonly (readonly [string, number, number])[]): number[] {
  const cut: number[] = [];
  let told = 0;
  const answers = readers.map(([holder, unreadBytes, takenBytes], index) => ({
    holder,
    unreadBytes,
    takenBytes,
    cut: () => cut.push(index),
  }));
  disconnectSlowest(answers, { maxBytes: MAX_BYTES, onCut: (count) => (told += count) });
  expect(told).toBe(cut.length);
  return cut;
}

it('disconnects no client within the limit', () => {
  expect(
    cutOf([
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
  expect(cutOf(readers)).toEqual([1, 2]);
});

it('disconnects no client of a bucket with less than an equal share, however slow it is', () => {
  const attack = Array.from({ length: 50 }, () => ['attacker', 10, 1] as const);
  const cut = cutOf([...attack, ['victim', 45, 0]]);
  expect(cut).toHaveLength(45);
  expect(cut).not.toContain(50);
});

it('levels the holders down to each other', () => {
  const of = (holder: string, count: number) =>
    Array.from({ length: count }, () => [holder, 10, 0] as const);
  const cut = cutOf([...of('a', 12), ...of('b', 8), ...of('c', 2)]);
  const left = 22 - cut.length;
  expect(left).toBe(10);
  expect(cut.filter((index) => index < 12)).toHaveLength(8);
  expect(cut.filter((index) => index >= 20)).toEqual([]);
});

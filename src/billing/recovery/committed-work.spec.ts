import { describe, expect, it } from '@jest/globals';
import { type Committed, CommittedWork, MAX_KEPT } from './committed-work.js';

const call = (number: number): Committed => ({
  kind: 'call',
  accountId: 'account',
  id: String(number),
});
const calls = (from: number, to: number): Committed[] =>
  Array.from({ length: to - from }, (_, at) => call(from + at));
const idsOf = (work: CommittedWork): number[] =>
  work.recent.map(({ id }) => Number(id)).sort((a, b) => a - b);
const numbers = (from: number, to: number): number[] => calls(from, to).map(({ id }) => Number(id));

describe('CommittedWork', () => {
  it.each([
    ['before it is full', MAX_KEPT - 3],
    ['when it is just full', MAX_KEPT],
    ['after it has been full', MAX_KEPT + MAX_KEPT / 2],
  ])('keeps the newest items after some were forgotten %s', (_name, noted) => {
    const work = new CommittedWork();
    for (const done of calls(0, noted)) work.note(done);
    work.forget([call(noted - 1), call(noted - 2)]);
    expect(idsOf(work)).toEqual(numbers(Math.max(0, noted - MAX_KEPT), noted - 2));
    for (const done of calls(noted, noted + 10)) work.note(done);
    const oldest = noted + 10 - MAX_KEPT - 2;
    const kept = [...numbers(Math.max(0, oldest), noted - 2), ...numbers(noted, noted + 10)];
    expect(idsOf(work)).toEqual(kept);
  });

  it('overwrites the oldest item when nothing was forgotten', () => {
    const work = new CommittedWork();
    for (const done of calls(0, MAX_KEPT + 5)) work.note(done);
    work.forget([]);
    work.note(call(MAX_KEPT + 5));
    expect(idsOf(work)).toEqual(numbers(6, MAX_KEPT + 6));
  });
});

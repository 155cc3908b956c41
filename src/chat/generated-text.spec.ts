import { describe, expect, it } from '@jest/globals';
import { Quota } from '../platform/fairness/quota.js';
import { GeneratedTextBuffer } from './generated-text.js';

const roomFor = (total: number) => new Quota({ total, perHolder: total / 2, what: 'texts' });
const begin = (room = roomFor(1_000_000), account = 'a') => new GeneratedTextBuffer(room, account);

describe('the text that a model has made', () => {
  it.each([0, 1, 63, 64, 65, 128, 1_000])('is all of its %i pieces in their order', (count) => {
    const made = begin();
    const pieces = Array.from({ length: count }, (_, index) => ` ${index}é`);
    for (const piece of pieces) made.push([piece]);
    expect(made.take().text).toBe(pieces.join(''));
  });

  it('takes several pieces at once', () => {
    const made = begin();
    made.push(Array<string>(100).fill('a'));
    made.push(['b', 'c']);
    expect(made.take().text).toBe('a'.repeat(100) + 'bc');
  });

  it('may come in any number of pieces at once', () => {
    const made = begin();
    made.push(Array<string>(300_000).fill('a'));
    expect(made.take().text).toHaveLength(300_000);
  });

  it('of one account leaves half of the room to the others, and its bytes count beyond', () => {
    const room = roomFor(40_000);
    const [first, second, other] = [begin(room), begin(room), begin(room, 'b')];
    const part = 'é'.repeat(10_000);
    for (const made of [first, second, other]) made.push([part]);
    second.push([part, 'é']);
    expect(second.take()).toEqual({ text: `${part}é`, uncountedTokens: 20_000 });
    expect([first.take(), other.take()]).toEqual(Array(2).fill({ text: part, uncountedTokens: 0 }));
  });

  it('has its room until it is dropped', () => {
    const room = roomFor(40_000);
    const made = begin(room);
    made.push(['x'.repeat(10_000)]);
    made.take();
    expect(room.inUse).toBe(10_000);
    made.drop();
    made.drop();
    expect(room.inUse).toBe(0);
  });

  it('is kept no longer once it was taken', () => {
    const made = begin();
    for (let piece = 0; piece < 70; piece += 1) made.push(['x']);
    expect(made.take().text).toHaveLength(70);
    expect(made.take().text).toBe('');
    made.push(['y']);
    expect(made.take().text).toBe('y');
  });
});

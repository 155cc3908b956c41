import { describe, expect, it } from '@jest/globals';
import { Quota } from '../platform/fairness/quota.js';
import { GeneratedTextBuffer } from './generated-text.js';

const quotaFor = (total: number) => new Quota({ total, perBucket: total / 2, what: 'texts' });
const begin = (quota = quotaFor(1_000_000), account = 'a') =>
  new GeneratedTextBuffer(quota, account);

describe('the generated text of a model', () => {
  it.each([0, 1, 63, 64, 65, 128, 1_000])('contains all %i pieces in order', (count) => {
    const buffer = begin();
    const pieces = Array.from({ length: count }, (_, index) => ` ${index}é`);
    for (const piece of pieces) buffer.push([piece]);
    expect(buffer.take().text).toBe(pieces.join(''));
  });

  it('accepts several pieces at once', () => {
    const buffer = begin();
    buffer.push(Array<string>(100).fill('a'));
    buffer.push(['b', 'c']);
    expect(buffer.take().text).toBe('a'.repeat(100) + 'bc');
  });

  it('accepts any number of pieces at once', () => {
    const buffer = begin();
    buffer.push(Array<string>(300_000).fill('a'));
    expect(buffer.take().text).toHaveLength(300_000);
  });

  it('of one account uses at most half of the memory; beyond that its bytes are counted', () => {
    const quota = quotaFor(40_000);
    const [first, second, other] = [begin(quota), begin(quota), begin(quota, 'b')];
    const part = 'é'.repeat(10_000);
    for (const buffer of [first, second, other]) buffer.push([part]);
    second.push([part, 'é']);
    expect(second.take()).toEqual({ text: `${part}é`, uncountedTokens: 20_000 });
    expect([first.take(), other.take()]).toEqual(Array(2).fill({ text: part, uncountedTokens: 0 }));
  });

  it('holds its quota until it is dropped', () => {
    const quota = quotaFor(40_000);
    const buffer = begin(quota);
    buffer.push(['x'.repeat(10_000)]);
    buffer.take();
    expect(quota.inUse).toBe(10_000);
    buffer.drop();
    buffer.drop();
    expect(quota.inUse).toBe(0);
  });

  it('is not kept after it was taken', () => {
    const buffer = begin();
    for (let piece = 0; piece < 70; piece += 1) buffer.push(['x']);
    expect(buffer.take().text).toHaveLength(70);
    expect(buffer.take().text).toBe('');
    buffer.push(['y']);
    expect(buffer.take().text).toBe('y');
  });
});

import { describe, expect, it } from '@jest/globals';
import { MadeText } from './made-text.js';

describe('the text that a model has made', () => {
  it.each([0, 1, 63, 64, 65, 128, 1_000])('is all of its %i pieces in their order', (count) => {
    const made = new MadeText();
    const pieces = Array.from({ length: count }, (_, index) => ` ${index}é`);
    for (const piece of pieces) made.push(piece);
    expect(made.take()).toBe(pieces.join(''));
  });

  it('takes several pieces at once', () => {
    const made = new MadeText();
    made.push(...Array.from({ length: 100 }, () => 'a'));
    made.push('b', 'c');
    expect(made.take()).toBe('a'.repeat(100) + 'bc');
  });

  it('is kept no longer once it was taken', () => {
    const made = new MadeText();
    for (let piece = 0; piece < 70; piece += 1) made.push('x');
    expect(made.take()).toHaveLength(70);
    expect(made.take()).toBe('');
    made.push('y');
    expect(made.take()).toBe('y');
  });
});

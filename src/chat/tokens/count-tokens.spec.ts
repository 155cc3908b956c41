import { afterAll, describe, expect, it } from '@jest/globals';
import { countTokens } from './count-tokens.js';
import { TokenCounter } from './token-counter.js';

describe('countTokens', () => {
  it.each([
    ['', 0],
    ['Hello world', 2],
    ['Tell me about the moon', 5],
    [' and so on and so on', 6],
    ['<|endoftext|>', 7],
  ])('counts %j as o200k_base does', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });

  it.each(['a', 'é', '漢', '7', ' ', '\n', '!', '🌍', '\u0301'])(
    'counts 200,000 times %j in bounded time',
    (character) => {
      const tokens = countTokens(character.repeat(200_000));
      expect(tokens).toBeGreaterThan(0);
      expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(character) * 200_000);
    },
  );

  it('counts ordinary text the same whatever its length', () => {
    const sentence = 'The quick brown fox jumps over the lazy dog. ';
    expect(countTokens(sentence.repeat(1_000))).toBe(1_000 * countTokens(sentence.trimEnd()) + 1);
  });
});

describe('TokenCounter', () => {
  const counter = new TokenCounter();
  afterAll(() => counter.beforeApplicationShutdown());

  it('counts many texts at once in its own thread', async () => {
    const counts = await Promise.all(
      Array.from({ length: 50 }, (_, words) => counter.count(['Hello', ' so'.repeat(words)])),
    );
    expect(counts).toEqual(Array.from({ length: 50 }, (_, words) => 1 + words));
  });

  it('starts again after its thread has ended, and fails what was waiting', async () => {
    const waiting = counter.count(['x'.repeat(1_000_000)]);
    await counter.beforeApplicationShutdown();
    await expect(waiting).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await counter.count(['Hello'])).toBe(1);
  });
});

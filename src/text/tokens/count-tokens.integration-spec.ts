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

class PatientCounter extends TokenCounter {
  protected override readonly timeoutMs = 600_000;
}
class HurriedCounter extends TokenCounter {
  protected override readonly timeoutMs = 500;
}

describe('TokenCounter', () => {
  const counter = new PatientCounter();
  afterAll(() => counter.beforeApplicationShutdown());
  const exact = (tokens: number) => ({ tokens, isEstimated: false });

  it('counts many texts at once in its own thread', async () => {
    const counts = await Promise.all(
      Array.from({ length: 50 }, (_, words) => counter.count('a', ['Hello', ' so'.repeat(words)])),
    );
    expect(counts).toEqual(Array.from({ length: 50 }, (_, words) => exact(1 + words)));
  });

  it('counts a long text in slices as it counts it whole', async () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(1_000).trimEnd();
    expect(await counter.count('a', [text])).toEqual(exact(countTokens(text)));
  });

  it('serves all other accounts before one account whose texts are slow to count', async () => {
    const busy = new PatientCounter();
    const counted: string[] = [];
    const count = (accountId: string, text: string) =>
      busy.count(accountId, [text]).finally(() => counted.push(accountId));
    const words = Array.from({ length: 110_000 }, () => Math.random().toString(36).slice(2, 10));
    const slow = [words.join(' '), 'a!'.repeat(200_000), 'qzjx'.repeat(250_000)].map((text) =>
      count('crafty', text),
    );
    expect(await count('victim', 'hi')).toEqual(exact(1));
    expect(counted).toEqual(['victim']);
    // What still waits is estimated.
    await busy.beforeApplicationShutdown();
    for (const { tokens } of await Promise.all(slow)) expect(tokens).toBeGreaterThan(0);
  });

  it('estimates texts that it cannot count in time, between their true count and their bytes', async () => {
    const text = 'zqxj é'.repeat(1_000_000);
    const hurried = new HurriedCounter();
    const count = await hurried.count('a', [text]);
    await hurried.beforeApplicationShutdown();
    expect(count.isEstimated).toBe(true);
    expect(count.tokens).toBeGreaterThan(1_000_000);
    expect(count.tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
  });

  it('counts or estimates every one of 700 streams that end at the same time', async () => {
    const text = 'Some words that a model has made. '.repeat(40);
    const counts = await Promise.all(
      Array.from({ length: 700 }, (_, n) => counter.count(`account ${n % 20}`, [text])),
    );
    const counted = countTokens(text);
    expect(counts.every(({ tokens }) => tokens >= counted)).toBe(true);
  });

  it('estimates a text at once if the queue is full, and never returns zero', async () => {
    const full = new HurriedCounter();
    const text = ' so'.repeat(1_000_000);
    const counts = Promise.all(Array.from({ length: 30 }, () => full.count('a', [text])));
    await full.beforeApplicationShutdown();
    for (const { tokens } of await counts) expect(tokens).toBeGreaterThanOrEqual(1_000_000);
    expect((await counts).at(-1)).toEqual({ tokens: Buffer.byteLength(text), isEstimated: true });
  });

  it('counts the texts of others while those of one account fill the queue', async () => {
    const full = new PatientCounter();
    const long = ' so'.repeat(1_000_000);
    const filling = Array.from({ length: 30 }, () => full.count('a', [long]));
    filling.push(...Array.from({ length: 300 }, () => full.count('a', ['Hello'])));
    expect(await full.count('b', ['Hello'])).toEqual(exact(1));
    await full.beforeApplicationShutdown();
    for (const { tokens } of await Promise.all(filling)) expect(tokens).toBeGreaterThan(0);
  });

  it('starts a new thread after its thread has ended, and estimates the waiting texts', async () => {
    const waiting = counter.count('a', ['x'.repeat(1_000_000)]);
    await counter.beforeApplicationShutdown();
    expect(await waiting).toEqual({ tokens: 1_000_000, isEstimated: true });
    expect(await counter.count('a', ['Hello'])).toEqual(exact(1));
  });
});

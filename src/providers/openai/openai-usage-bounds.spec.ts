import { describe, expect, it } from '@jest/globals';
import { usageOf } from '../text/token-usage.js';

const reasoning = (count: number) => ({ completion_tokens_details: { reasoning_tokens: count } });
const cached = (count: number) => ({ prompt_tokens_details: { cached_tokens: count } });
const told = (prompt: number, completion: number, total?: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  ...(total !== undefined && { total_tokens: total }),
});

describe('a usage that no response could have', () => {
  it.each([
    {},
    { usage: null },
    { usage: 'x' },
    { usage: {} },
    { usage: { prompt_tokens: 5 } },
    { usage: { prompt_tokens: '5', completion_tokens: 6 } },
    { usage: { prompt_tokens: -5, completion_tokens: 6 } },
    { usage: { prompt_tokens: 1.5, completion_tokens: 6 } },
    { usage: { prompt_tokens: 5, completion_tokens: 2 ** 53 } },
    { usage: { prompt_tokens: 5, completion_tokens: 1_000_000_001 } },
    { usage: { prompt_tokens: 1_000_000_001, completion_tokens: 6 } },
  ])('is none in %j', (answer) => {
    expect(usageOf(answer)).toBe(null);
  });

  it('has whole numbers only in its details', () => {
    const prompt_tokens_details = {
      cached_tokens: 1,
      audio_tokens: 0,
      vendor: 'x',
      ratio: 0.5,
      'x y': 1,
    };
    expect(usageOf({ usage: { ...told(5, 6, 11), prompt_tokens_details } })).toMatchObject({
      promptDetails: { cached_tokens: 1, audio_tokens: 0 },
    });
  });

  it('ignores counts and totals that no response could have', () => {
    const absurd = 1_000_000_001;
    const usage = { ...told(5, 6, absurd), ...cached(absurd), ...reasoning(absurd) };
    expect(usageOf({ usage })).toEqual({
      promptTokens: 5,
      completionTokens: 6,
      cachedTokens: null,
      reasoningTokens: null,
    });
  });

  it('has at most 16 details of 64 letters each', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    const prompt_tokens_details = Object.fromEntries([
      ['x'.repeat(65), 1],
      ...[...letters].map((letter) => [letter.repeat(64), 1]),
    ]);
    const { promptDetails = {} } =
      usageOf({ usage: { ...told(5, 6), prompt_tokens_details } }) ?? {};
    expect(Object.keys(promptDetails)).toEqual(
      [...letters].slice(0, 16).map((letter) => letter.repeat(64)),
    );
  });
});

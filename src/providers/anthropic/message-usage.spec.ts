import { describe, expect, it } from '@jest/globals';
import { laterUsage, messageUsageOf, reportOf, startUsageOf } from './message-usage.js';

describe('the usage of a message', () => {
  it('is the whole prompt, with what was read from the cache and written to it apart', () => {
    expect(
      messageUsageOf({
        input_tokens: 100,
        cache_read_input_tokens: 50_000,
        cache_creation_input_tokens: 900,
        cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 600 },
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 25 },
      }),
    ).toEqual({
      promptTokens: 51_000,
      completionTokens: 40,
      cachedTokens: 50_000,
      cacheWriteTokens: 300,
      cacheWrite1hTokens: 600,
      reasoningTokens: 25,
    });
  });

  it('takes counts that are null for absent', () => {
    const usage = {
      input_tokens: 7,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
      cache_creation: null,
      output_tokens: 2,
      output_tokens_details: null,
      server_tool_use: null,
    };
    expect(messageUsageOf(usage)).toEqual({
      promptTokens: 7,
      completionTokens: 2,
      cachedTokens: null,
      reasoningTokens: null,
    });
  });

  it('adds up the runs of the model itself', () => {
    const run = (type: string, tokens: number) => ({
      type,
      input_tokens: tokens,
      output_tokens: 5,
    });
    const iterations = [
      run('compaction', 1_000),
      run('message', 10),
      run('advisor_message', 9_999),
    ];
    const usage = messageUsageOf({ input_tokens: 10, output_tokens: 5, iterations });
    expect(usage).toMatchObject({ promptTokens: 1_010, completionTokens: 10 });
  });

  it.each([[{}], [{ input_tokens: 5 }], [{ input_tokens: -1, output_tokens: 'x' }]])(
    'is no report without both counts: %j',
    (usage) => {
      expect(messageUsageOf(usage)).toBeNull();
    },
  );

  it.each([
    ['leaves out', {}],
    ['has as null', { input_tokens: null, cache_read_input_tokens: null }],
    ['has as zero', { input_tokens: 0, cache_read_input_tokens: 0 }],
  ])('keeps what a later report %s (G-23)', (_how, counts) => {
    const first = { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 1 };
    const last = { output_tokens: 30, ...counts };
    expect(messageUsageOf(laterUsage(first, last))).toMatchObject({
      promptTokens: 13,
      completionTokens: 30,
      cachedTokens: 4,
    });
  });

  it('has no output of the first event, whose count is a placeholder (G-23)', () => {
    const first = startUsageOf({
      input_tokens: 9,
      output_tokens: 1,
      output_tokens_details: { thinking_tokens: 1 },
      iterations: [{ type: 'message', input_tokens: 9, output_tokens: 1 }],
    });
    expect(messageUsageOf(first)).toBeNull();
    for (const later of [{}, { input_tokens: 9 }, { output_tokens: null }, { output_tokens: 0 }])
      expect(reportOf(laterUsage(first, later))).toMatchObject({
        promptTokens: 9,
        completionTokens: 0,
        reasoningTokens: null,
      });
    expect(reportOf(laterUsage(first, { output_tokens: 30 }))).toMatchObject({
      promptTokens: 9,
      completionTokens: 30,
    });
  });
});

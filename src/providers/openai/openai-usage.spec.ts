import { describe, expect, it } from '@jest/globals';
import { usageOf } from '../text/token-usage.js';

/** Prompt, completion, cached, reasoning and surplus. */
type Wanted = readonly [number, number, number | null, number | null, number?];

const reasoning = (count: number) => ({ completion_tokens_details: { reasoning_tokens: count } });
const cached = (count: number) => ({ prompt_tokens_details: { cached_tokens: count } });
const told = (prompt: number, completion: number, total?: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  ...(total !== undefined && { total_tokens: total }),
});

describe('a usage', () => {
  it.each<[string, object, Wanted]>([
    [
      'with reasoning beside the completion',
      { ...told(20, 30, 5_050), ...reasoning(5_000) },
      [20, 5_030, null, 5_000],
    ],
    [
      'with reasoning inside the completion',
      { ...told(20, 5_030, 5_050), ...reasoning(5_000) },
      [20, 5_030, null, 5_000],
    ],
    [
      'with reasoning inside and no total',
      { ...told(20, 5_030), ...reasoning(5_000) },
      [20, 5_030, null, 5_000],
    ],
    [
      'with reasoning larger than the completion and no total',
      { ...told(20, 30), ...reasoning(5_000) },
      [20, 5_030, null, 5_000],
    ],
    [
      'with cached reads beside the prompt',
      { ...told(100, 30, 50_130), cache_read_input_tokens: 50_000 },
      [50_100, 30, 50_000, null],
    ],
    [
      'with cached reads and writes beside the prompt',
      {
        ...told(100, 30, 50_330),
        cache_read_input_tokens: 50_000,
        cache_creation_input_tokens: 200,
      },
      [50_300, 30, 50_000, null],
    ],
    [
      'with writes alone beside the prompt',
      { ...told(100, 30, 330), cache_read_input_tokens: 90, cache_creation_input_tokens: 200 },
      [300, 30, 90, null],
    ],
    [
      'with reads and reasoning beside',
      { ...told(100, 30, 1_630), cache_read_input_tokens: 1_000, ...reasoning(500) },
      [1_100, 530, 1_000, 500],
    ],
    [
      'with reads beside and reasoning inside',
      { ...told(100, 30, 1_130), cache_read_input_tokens: 1_000, ...reasoning(20) },
      [1_100, 30, 1_000, 20],
    ],
    [
      'with cached reads inside the prompt',
      { ...told(50_100, 30, 50_130), ...cached(50_000) },
      [50_100, 30, 50_000, null],
    ],
    [
      'with both names of cached reads',
      { ...told(50_100, 30, 50_130), ...cached(50_000), cache_read_input_tokens: 50_000 },
      [50_100, 30, 50_000, null],
    ],
    [
      'of DeepSeek',
      { ...told(300, 30, 330), prompt_cache_hit_tokens: 256, prompt_cache_miss_tokens: 44 },
      [300, 30, 256, null],
    ],
    [
      'of hits and misses alone',
      { completion_tokens: 30, prompt_cache_hit_tokens: 256, prompt_cache_miss_tokens: 44 },
      [300, 30, 256, null],
    ],
    [
      'of Gemini',
      {
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 500,
        toolUsePromptTokenCount: 7,
        totalTokenCount: 637,
      },
      [107, 530, 40, 500],
    ],
    [
      'of Gemini without a total',
      { promptTokenCount: 100, candidatesTokenCount: 30, thoughtsTokenCount: 500 },
      [100, 530, null, 500],
    ],
    [
      'of Gemini that only thought',
      { promptTokenCount: 100, thoughtsTokenCount: 500, totalTokenCount: 600 },
      [100, 500, null, 500],
    ],
    [
      'of Anthropic',
      {
        input_tokens: 10,
        cache_creation_input_tokens: 200,
        cache_read_input_tokens: 3_000,
        output_tokens: 30,
      },
      [3_210, 30, 3_000, null],
    ],
    ['of Anthropic without a cache', { input_tokens: 10, output_tokens: 30 }, [10, 30, null, null]],
    [
      'of Responses',
      {
        input_tokens: 1_000,
        input_tokens_details: { cached_tokens: 900 },
        output_tokens: 530,
        output_tokens_details: { reasoning_tokens: 500 },
        total_tokens: 1_530,
      },
      [1_000, 530, 900, 500],
    ],
    [
      'whose part is larger than its prompt, without a total',
      { ...told(100, 30), cache_read_input_tokens: 50_000 },
      [50_100, 30, 50_000, null],
    ],
    ['with a surplus that nothing names', { ...told(20, 30, 5_050) }, [20, 30, null, null, 5_000]],
    [
      'with a surplus beyond its cached reads',
      { ...told(100, 30, 50_137), cache_read_input_tokens: 50_000 },
      [50_100, 30, 50_000, null, 7],
    ],
    [
      'with a surplus that nothing names, and cached reads inside its prompt',
      { ...told(1_000, 30, 6_030), ...cached(800) },
      [1_000, 30, 800, null, 5_000],
    ],
    [
      'with a total below its parts',
      { ...told(100, 30, 50), ...reasoning(20) },
      [100, 30, null, 20],
    ],
    [
      'with parts larger than the whole',
      { ...told(100, 30, 130), ...cached(900), ...reasoning(70) },
      [100, 30, 100, 30],
    ],
    ['of zeros', told(0, 0, 0), [0, 0, null, null]],
  ])('%s is read in its dialect (G-23)', (_what, usage, wanted) => {
    const [promptTokens, completionTokens, cachedTokens, reasoningTokens, surplusTokens] = wanted;
    expect(usageOf({ usage })).toMatchObject({
      promptTokens,
      completionTokens,
      cachedTokens,
      reasoningTokens,
      ...(surplusTokens !== undefined && { surplusTokens }),
    });
    expect(usageOf({ usage })?.surplusTokens).toBe(surplusTokens);
  });

  it.each<[string, object, object]>([
    [
      'of writes by how long they stay',
      {
        ...told(100, 30, 50_330),
        cache_read_input_tokens: 50_000,
        cache_creation_input_tokens: 200,
        cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 },
      },
      { promptTokens: 50_300, cachedTokens: 50_000, cacheWriteTokens: 150, cacheWrite1hTokens: 50 },
    ],
    [
      'of Anthropic that names only the parts of its writes',
      {
        input_tokens: 10,
        output_tokens: 30,
        cache_read_input_tokens: 3_000,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 200 },
      },
      { promptTokens: 3_210, cachedTokens: 3_000, cacheWriteTokens: 0, cacheWrite1hTokens: 200 },
    ],
    [
      'of Bedrock',
      {
        inputTokens: 10,
        outputTokens: 30,
        totalTokens: 3_240,
        cacheReadInputTokens: 3_000,
        cacheWriteInputTokens: 200,
      },
      { promptTokens: 3_210, cachedTokens: 3_000, cacheWriteTokens: 200, cacheWrite1hTokens: 0 },
    ],
    [
      'of writes inside the prompt',
      {
        ...told(300, 30, 330),
        prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 200 },
      },
      { promptTokens: 300, cachedTokens: 90, cacheWriteTokens: 200 },
    ],
    [
      'of images',
      { ...told(300, 30, 330), prompt_tokens_details: { image_tokens: 258 } },
      { promptTokens: 300, imageTokens: 258 },
    ],
    [
      'of images in the words of Gemini',
      {
        promptTokenCount: 300,
        candidatesTokenCount: 30,
        totalTokenCount: 330,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 42 },
          { modality: 'IMAGE', tokenCount: 258 },
        ],
      },
      { promptTokens: 300, imageTokens: 258 },
    ],
  ])('%s has the parts of its prompt (G-23)', (_what, usage, wanted) => {
    expect(usageOf({ usage })).toMatchObject({ completionTokens: 30, ...wanted });
  });

  it.each([
    ['in x_groq', { x_groq: { id: 'r', usage: told(5, 6, 11) } }],
    ['in the choice', { choices: [{ index: 0, delta: {}, usage: told(5, 6, 11) }] }],
    ['in usageMetadata', { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6 } }],
    ['null beside the one in x_groq', { usage: null, x_groq: { usage: told(5, 6, 11) } }],
  ])('%s is read', (_where, answer) => {
    expect(usageOf(answer)).toMatchObject({ promptTokens: 5, completionTokens: 6 });
  });
});

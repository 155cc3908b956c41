import { delta, type Dialect, DONE, says, STOP, wholeAnswer } from './dialect.js';

const told = (prompt: number, completion: number, more: object = {}) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...more,
});
/** A stream whose last chunk has this usage, and the whole answer with the same. */
const withUsage = (usage: unknown) => ({
  events: [says('Hi'), STOP, { choices: [], usage }, DONE],
  answer: wholeAnswer({ content: 'Hi' }, {}, { usage }),
});

const USAGE: readonly Dialect[] = [
  {
    what: 'reasoning beside the completion (xAI, Gemini)',
    usage: told(20, 30, {
      total_tokens: 5_050,
      completion_tokens_details: { reasoning_tokens: 5_000 },
    }),
    wanted: [20, 5_030],
  },
  {
    what: 'reasoning inside the completion (OpenAI, DeepSeek)',
    usage: told(20, 5_030, { completion_tokens_details: { reasoning_tokens: 5_000 } }),
    wanted: [20, 5_030],
  },
  {
    what: 'cached reads beside the prompt (Anthropic- and Bedrock-shaped proxies)',
    usage: told(100, 30, { total_tokens: 50_130, cache_read_input_tokens: 50_000 }),
    wanted: [50_100, 30, 50_000],
  },
  {
    what: 'cached reads inside the prompt (OpenAI, most)',
    usage: told(50_100, 30, { prompt_tokens_details: { cached_tokens: 50_000 } }),
    wanted: [50_100, 30, 50_000],
  },
  {
    what: 'hits and misses of the cache (DeepSeek)',
    usage: told(300, 30, { prompt_cache_hit_tokens: 256, prompt_cache_miss_tokens: 44 }),
    wanted: [300, 30, 256],
  },
  {
    what: 'thoughts and prompts of tools beside (Gemini)',
    usage: {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 30,
      thoughtsTokenCount: 500,
      toolUsePromptTokenCount: 7,
      totalTokenCount: 637,
    },
    wanted: [107, 530, 40],
  },
  {
    what: 'three lines of input (Anthropic)',
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 3_000,
      output_tokens: 30,
    },
    wanted: [3_210, 30, 3_000],
  },
  {
    what: 'a surplus that nothing names: output up to the cap',
    usage: told(20, 30, { total_tokens: 1_000_000_000 }),
    wanted: [20, 10_000],
  },
  { what: 'zeros beside text: counted (broken proxies)', usage: told(0, 0), wanted: [7, 1] },
  { what: 'a completion of 0 beside text: counted', usage: told(900, 0), wanted: [7, 1] },
  {
    what: 'the vendor’s own cost, which is not the caller’s (OpenRouter)',
    usage: told(20, 30, { cost: 99, cost_details: { upstream: 'vendor' } }),
    wanted: [20, 30],
  },
].map(({ what, usage, wanted }) => ({
  kind: 'usage',
  what,
  ...withUsage(usage),
  wanted: { text: 'Hi', usage: wanted as [number, number, number?] },
}));

const PLACES_OF_USAGE: readonly Dialect[] = [
  {
    what: 'in x_groq of the last chunk (Groq)',
    events: [
      says('Hi'),
      delta({}, { finish_reason: 'stop' }, { x_groq: { id: 'vendor', usage: told(20, 30) } }),
      DONE,
    ],
  },
  {
    what: 'growing on every chunk (vLLM)',
    events: [
      says('H', { usage: told(20, 10) }),
      says('i', { usage: told(20, 30) }),
      delta({}, { finish_reason: 'stop' }, { usage: told(20, 30) }),
      DONE,
    ],
  },
  {
    what: 'on the chunk of the reason to end (Mistral, Ollama)',
    events: [says('Hi'), delta({}, { finish_reason: 'stop' }, { usage: told(20, 30) }), DONE],
  },
  {
    what: 'in the choice (Moonshot)',
    events: [says('Hi'), delta({}, { finish_reason: 'stop', usage: told(20, 30) }), DONE],
  },
  {
    what: 'null on every chunk but one (OpenAI)',
    events: [
      says('Hi', { usage: null }),
      delta({}, { finish_reason: 'stop' }, { usage: null }),
      { choices: [], usage: told(20, 30) },
      DONE,
    ],
  },
].map((dialect) => ({ kind: 'usage', ...dialect, wanted: { text: 'Hi', usage: [20, 30] } }));

/** Shapes and places of usage. */
export const USAGE_DIALECTS: readonly Dialect[] = [...USAGE, ...PLACES_OF_USAGE];

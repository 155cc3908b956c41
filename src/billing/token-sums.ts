/**
 * The sums of tokens in usage, by the names of their columns: of calls that are sold by token the whole prompts, their cached
 * parts, the outputs, and their parts of reasoning.
 */
export const TOKEN_SUMS = [
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;
export type TokenSum = (typeof TOKEN_SUMS)[number];

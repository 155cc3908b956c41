import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { TokenDetails, TokenUsage } from '../ports/chat.port.js';

/** The names under which vendors report one count; `details.name` is a field of an object. */
const NAMES = {
  prompt: ['prompt_tokens', 'promptTokenCount'],
  input: ['input_tokens', 'inputTokens'],
  completion: ['completion_tokens', 'output_tokens', 'outputTokens', 'candidatesTokenCount'],
  total: ['total_tokens', 'totalTokens', 'totalTokenCount'],
  reasoning: [
    'completion_tokens_details.reasoning_tokens',
    'output_tokens_details.reasoning_tokens',
    'output_tokens_details.thinking_tokens',
    'reasoning_tokens',
  ],
  thoughts: ['thoughtsTokenCount'],
  cached: [
    'prompt_tokens_details.cached_tokens',
    'input_tokens_details.cached_tokens',
    'cached_tokens',
    'cachedContentTokenCount',
    'prompt_cache_hit_tokens',
  ],
  missed: ['prompt_cache_miss_tokens'],
  read: ['cache_read_input_tokens', 'cacheReadInputTokens'],
  written: [
    'cache_creation_input_tokens',
    'cache_write_input_tokens',
    'cacheWriteInputTokens',
    'prompt_tokens_details.cache_write_tokens',
    'input_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
  ],
  /** The two parts of what was written, by how long it stays. */
  writtenFor5m: ['cache_creation.ephemeral_5m_input_tokens'],
  writtenFor1h: ['cache_creation.ephemeral_1h_input_tokens'],
  image: ['prompt_tokens_details.image_tokens', 'input_tokens_details.image_tokens'],
  toolUse: ['toolUsePromptTokenCount', 'tool_use_prompt_tokens'],
} as const;

/** The name of a count in the details of usage. */
const DETAIL_NAME = /^[a-z][a-z_]{0,63}$/;
/** Maximum details of the prompt or the completion that are passed on; OpenAI has four. */
const MAX_DETAILS = 16;
/** Ten times the longest context that a row may have. Sums of several such counts are exact in a double. */
const MAX_COUNT = 1_000_000_000;

type Counts = Readonly<Record<keyof typeof NAMES, number | null>>;

/**
 * Token counts of a completion or a chunk, from all vendor formats of usage; null if it reports none (decision G-23).
 * Prompt tokens include cached reads, cache writes and the prompts of tools; completion tokens include reasoning. If no
 * combination of the reported counts adds up to the total, `surplusTokens` is the unexplained rest.
 */
export function usageOf(response: JsonObject): TokenUsage | null {
  const usage = usageObjectOf(response);
  if (usage === null) return null;
  const counts = countsOf(usage);
  const { prompt, completion } = promptAndCompletionOf(counts);
  if (prompt === null || completion === null) return null;
  const { total } = counts;
  const reasoning = counts.reasoning ?? counts.thoughts;
  const beside = besideOf(counts, prompt, completion, total ?? prompt + completion);
  const input = prompt + beside.input;
  const output = completion + beside.reasoning;
  const cached = counts.cached ?? counts.read;
  const imageTokens = counts.image ?? tokensOfModality(usage.promptTokensDetails, 'IMAGE');
  return {
    promptTokens: input,
    completionTokens: output,
    cachedTokens: cached === null ? null : Math.min(cached, input),
    reasoningTokens: reasoning === null ? null : Math.min(reasoning, output),
    ...writesOf(counts),
    ...(imageTokens !== null && { imageTokens }),
    ...(beside.surplus > 0 && { surplusTokens: beside.surplus }),
    promptDetails: detailsOf(usage.prompt_tokens_details),
    completionDetails: detailsOf(usage.completion_tokens_details),
  };
}

/** The usage object, also at the places where Groq and Moonshot put it. */
function usageObjectOf(response: JsonObject): JsonObject | null {
  const { usage, x_groq: groq, choices, usageMetadata } = response;
  if (isJsonObject(usage)) return usage;
  if (isJsonObject(groq) && isJsonObject(groq.usage)) return groq.usage;
  if (isJsonObject(usageMetadata)) return usageMetadata;
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  return isJsonObject(choice) && isJsonObject(choice.usage) ? choice.usage : null;
}

function countsOf(usage: JsonObject): Counts {
  const entries = Object.entries(NAMES).map(([key, names]) => [key, firstCount(usage, names)]);
  const counts = Object.fromEntries(entries) as Counts;
  const { writtenFor5m, writtenFor1h } = counts;
  if (counts.written !== null || (writtenFor5m === null && writtenFor1h === null)) return counts;
  return { ...counts, written: (writtenFor5m ?? 0) + (writtenFor1h ?? 0) };
}

/** Tokens written to the cache, for 5 minutes unless the vendor says that they stay an hour. */
function writesOf({ written, writtenFor1h }: Counts) {
  if (written === null) return {};
  const cacheWrite1hTokens = Math.min(writtenFor1h ?? 0, written);
  return { cacheWriteTokens: written - cacheWrite1hTokens, cacheWrite1hTokens };
}

/** The count of one modality in Gemini's list of them; null where it is not there. */
function tokensOfModality(details: unknown, modality: string): number | null {
  if (!Array.isArray(details)) return null;
  const known = (details as unknown[]).find(
    (entry): entry is JsonObject => isJsonObject(entry) && entry.modality === modality,
  );
  return known !== undefined && isCount(known.tokenCount) ? known.tokenCount : null;
}

function firstCount(usage: JsonObject, names: readonly string[]): number | null {
  for (const name of names) {
    const [field = '', inner] = name.split('.');
    const value = usage[field];
    const count = inner === undefined ? value : isJsonObject(value) ? value[inner] : undefined;
    if (isCount(count)) return count;
  }
  return null;
}

/** A reasoning count that exceeds the completion cannot be part of it. */
function reasoningBeside(reasoning: number, completion: number): number {
  return reasoning > completion ? reasoning : 0;
}

function promptAndCompletionOf(counts: Counts) {
  const { cached, missed, thoughts, reasoning, total } = counts;
  const hitsAndMisses = cached === null || missed === null ? null : cached + missed;
  const prompt = counts.prompt ?? counts.input ?? hitsAndMisses;
  // Gemini leaves out candidates that are empty.
  const completion = counts.completion ?? (thoughts === null ? null : 0);
  if (total !== null || prompt === null || completion === null) return { prompt, completion };
  const beside = thoughts ?? reasoningBeside(reasoning ?? 0, completion);
  return { prompt: prompt + exclusiveOf(counts, prompt), completion: completion + beside };
}

/**
 * Without a total, Anthropic's three input counts exclude each other, and a count larger than the prompt is additional
 * to it, whatever its name.
 */
function exclusiveOf({ prompt: named, cached, read, written }: Counts, prompt: number): number {
  const exclusive = (read ?? 0) + (written ?? 0);
  return exclusive > prompt || (named === null && cached === null) ? exclusive : 0;
}

/**
 * The part of the total that is neither prompt nor completion. The first combination of counts that gives it exactly
 * decides.
 */
function besideOf(counts: Counts, prompt: number, completion: number, total: number) {
  const surplus = total - prompt - completion;
  const none = { input: 0, reasoning: 0, surplus: 0 };
  // A total below the sum is ignored.
  if (surplus <= 0) return none;
  const reasoning = counts.reasoning ?? counts.thoughts ?? 0;
  const inputs = inputsOf(counts);
  for (const input of sumsOf(inputs)) {
    if (input === surplus) return { ...none, input };
    if (input + reasoning === surplus) return { ...none, input, reasoning };
  }
  // Tokens reported as input are never charged as output. Cached reads reported as prompt details are already included
  // in the prompt.
  const { cached, read } = counts;
  const isInPrompt = read === null && cached !== null && cached <= prompt;
  const named = sum(inputsOf(isInPrompt ? { ...counts, cached: null } : counts));
  const input = named <= surplus ? named : 0;
  return { input, reasoning: 0, surplus: surplus - input };
}

/** Input tokens that may be additional to the prompt. */
function inputsOf({ cached, read, written, toolUse }: Counts): number[] {
  return [read ?? cached, written, toolUse].filter((count): count is number => count !== null);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Zero, then each count, then the sums of several. */
function sumsOf(counts: readonly number[]): number[] {
  const sums = counts.reduce<{ parts: number; sum: number }[]>(
    (known, count) => [
      ...known,
      ...known.map(({ parts, sum }) => ({ parts: parts + 1, sum: sum + count })),
    ],
    [{ parts: 0, sum: 0 }],
  );
  return sums.sort((a, b) => a.parts - b.parts).map(({ sum }) => sum);
}

/** Whole numbers only, so that nothing else of the vendor's is passed on (decision G-96), and a bounded number of them. */
function detailsOf(details: unknown): TokenDetails | undefined {
  if (!isJsonObject(details)) return undefined;
  const counts: Record<string, number> = {};
  let found = 0;
  for (const name in details) {
    const value = details[name];
    if (!DETAIL_NAME.test(name) || !isCount(value)) continue;
    counts[name] = value;
    found += 1;
    if (found === MAX_DETAILS) break;
  }
  return found === 0 ? undefined : counts;
}

/**
 * Whether the number is a possible token count of a response. A larger number is an error of the vendor and is ignored.
 */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT;
}

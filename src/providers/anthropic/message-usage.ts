import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { usageOf } from '../text/token-usage.js';
import type { TokenUsage } from '../ports/chat.port.js';

/** The counts of the prompt, which exclude each other, and all that is told of it. */
const PROMPT_COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
const OF_PROMPT = [...PROMPT_COUNTS, 'cache_creation'];
/** The counts of a usage that are added up over its iterations. */
const COUNTS = [...PROMPT_COUNTS, 'output_tokens'];
/** Iterations of the model itself. Those of others, such as an advisor, are billed apart. */
const OWN: readonly unknown[] = [undefined, 'message', 'compaction'];
/** More cannot be the iterations of one answer. */
const MAX_ITERATIONS = 1_000;

/**
 * Token counts of a message; null if it reports none. The vendor's three input counts exclude each other, so their sum is
 * the prompt. Where the model ran several times for one answer, its runs are added up.
 */
export function messageUsageOf(usage: JsonObject): TokenUsage | null {
  return usageOf({ usage: { ...usage, ...sumsOf(usage) } });
}

/** What the first event of a stream counts of the prompt, before there is an answer; null if it counts nothing. */
export function promptUsageOf(usage: JsonObject): TokenUsage | null {
  const told = messageUsageOf({ ...usage, output_tokens: 0, output_tokens_details: null });
  if (told === null || told.promptTokens === 0) return null;
  return { ...told, completionTokens: 0 };
}

/**
 * What stays of the usage of the first event: all but the output, which is at most a placeholder there, such as one token. Runs
 * before the answer are told again with the output.
 */
export function startUsageOf({
  output_tokens: _tokens,
  output_tokens_details: _details,
  iterations: _runs,
  ...usage
}: JsonObject): JsonObject {
  return usage;
}

/** The counts so far: those of the whole message, or of its prompt alone while nothing was told of the output. */
export function reportOf(usage: JsonObject): TokenUsage | null {
  return messageUsageOf(usage) ?? promptUsageOf(usage);
}

/**
 * The later report over the former: a count that is null or absent in the later one stays. So does the prompt where the later
 * one has only zeros for it: some vendors of this protocol count it in their first event alone.
 */
export function laterUsage(former: JsonObject, later: JsonObject): JsonObject {
  const hasPrompt = PROMPT_COUNTS.some((name) => countOf(later[name]) > 0);
  const told = Object.entries(later).filter(
    ([name, value]) =>
      value !== null && value !== undefined && (hasPrompt || !OF_PROMPT.includes(name)),
  );
  return { ...former, ...Object.fromEntries(told) };
}

function sumsOf(usage: JsonObject): JsonObject {
  const { iterations } = usage;
  if (!Array.isArray(iterations)) return {};
  const own = iterations
    .slice(0, MAX_ITERATIONS)
    .filter((run): run is JsonObject => isJsonObject(run) && OWN.includes(run.type));
  const sums = COUNTS.map(
    (name) => [name, Math.max(countOf(usage[name]), sum(own, name))] as const,
  );
  return Object.fromEntries(sums.filter(([, tokens]) => tokens > 0));
}

function sum(runs: readonly JsonObject[], name: string): number {
  return runs.reduce((total, run) => total + countOf(run[name]), 0);
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}

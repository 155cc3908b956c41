import type { JsonObject } from '../../common/json-object.js';
import type { ConversationMessage, Conversation } from '../ports/conversation.js';
import { effortOf } from '../ports/conversation.js';
import type { ModelSetting } from './refused-settings.js';

/** The vendor refuses a smaller budget, and one that is not below the cap. */
const MIN_BUDGET_TOKENS = 1_024;
/** Of the cap, this part at most is for thinking, so that something is left for the answer. */
const MAX_SHARE = 0.8;
/** The efforts of other protocols in the vendor's words. */
const EFFORTS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
]);
/** Tokens of thinking for each of them, for models that know no efforts. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 24_576],
  ['xhigh', 32_768],
  ['max', 65_536],
]);

/** How a request asks the model to think. */
export interface WantedThinking {
  readonly thinking: JsonObject;
  /** For `output_config`. */
  readonly effort?: string;
}

/**
 * The thinking that a conversation asks for: within its budget where it names one, else guided by its effort. Undefined
 * where it asks for none, where a tool has to be called (the vendor refuses both together), and where neither can be had.
 */
export function thinkingOf(
  { settings, toolChoice, messages }: Conversation,
  maxTokens: number,
  refused: ReadonlySet<ModelSetting>,
): WantedThinking | undefined {
  const { thinkingBudgetTokens: budget } = settings;
  const effort = EFFORTS.get(effortOf(settings) ?? '');
  const isForced = toolChoice === 'required' || typeof toolChoice === 'object';
  if (isForced || budget === 0 || settings.reasoningEffort === 'none') return undefined;
  const takesBudget = !refused.has('budget') && maySetBudget(messages);
  const ofBudget = (tokens = 0) => (takesBudget ? withinBudget(tokens, maxTokens) : undefined);
  const named = ofBudget(budget);
  if (named) return named;
  if (effort === undefined) return undefined;
  if (!refused.has('effort')) return { thinking: { type: 'adaptive' }, effort };
  return ofBudget(BUDGETS.get(effort));
}

/**
 * The thinking of a caller of the same protocol. Its budget is below the cap that the caller names; where the gateway has
 * chosen a smaller cap (decision G-106), the vendor would refuse it, so it is what fits, or none.
 */
export function fittedThinking(thinking: JsonObject, maxTokens: number): JsonObject | undefined {
  const { type, budget_tokens: budget } = thinking;
  if (type !== 'enabled' || typeof budget !== 'number' || budget < maxTokens) return thinking;
  const fitted = withinBudget(budget, maxTokens);
  return fitted && { ...thinking, ...fitted.thinking };
}

function withinBudget(wanted: number, maxTokens: number): WantedThinking | undefined {
  const tokens = Math.min(wanted, Math.floor(maxTokens * MAX_SHARE));
  if (tokens < MIN_BUDGET_TOKENS) return undefined;
  return { thinking: { type: 'enabled', budget_tokens: tokens } };
}

/**
 * With a budget the vendor wants a turn whose tools have just answered to begin with its thoughts. Other protocols do not
 * keep them.
 */
function maySetBudget(messages: readonly ConversationMessage[]): boolean {
  if (messages.at(-1)?.role !== 'tool') return true;
  const begin = messages.findLastIndex(({ role }) => role === 'user');
  const turn = messages.slice(begin + 1).find((message) => message.role === 'assistant');
  const first = turn?.parts[0];
  return first?.type === 'reasoning' && first.sealed?.family === 'messages';
}

import type { ChatSettings } from '../ports/conversation.js';
import { effortOf } from '../ports/conversation.js';

/** Models that are told how long to think by a number of tokens; later ones by a word. */
const BUDGETED_MODEL = /^gemini-[12](?![0-9])/;
/** Tokens of thinking for each effort; a higher effort has the highest. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
};
const HIGH_BUDGET = 24_576;
/** Words for each effort; a higher effort has the highest. Thinking cannot be switched off there. */
const LEVELS: Readonly<Record<string, string>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
};
const HIGH_LEVEL = 'high';

/** Whether the model wants the signatures of its thoughts back, and refuses a call of a tool without one. */
export function needsSignatures(upstreamModel: string): boolean {
  return !BUDGETED_MODEL.test(upstreamModel);
}

/** `thinkingConfig` for a caller's effort or budget; undefined where there is neither, and the vendor decides. */
export function thinkingConfigOf(
  settings: ChatSettings,
  upstreamModel: string,
): object | undefined {
  const { reasoningEffort, thinkingBudgetTokens: budget } = settings;
  if (reasoningEffort === undefined && budget === undefined) return undefined;
  const isOff = budget === 0 || (budget === undefined && reasoningEffort === 'none');
  const effort = isOff ? 'none' : (effortOf(settings) ?? '');
  const amount = BUDGETED_MODEL.test(upstreamModel)
    ? { thinkingBudget: budget ?? BUDGETS[effort] ?? HIGH_BUDGET }
    : { thinkingLevel: LEVELS[effort] ?? HIGH_LEVEL };
  return { ...amount, includeThoughts: !isOff };
}

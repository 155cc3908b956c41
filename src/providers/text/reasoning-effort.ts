import type { ChatSettings } from '../ports/conversation.js';

/** Budgets of thinking up to these count as this effort; larger ones as `high`. */
const EFFORTS = [
  { effort: 'low', upToTokens: 4_096 },
  { effort: 'medium', upToTokens: 16_384 },
] as const;

/** The wanted effort of reasoning; where only a budget is given, the effort that it stands for. Undefined: none is said. */
export function effortOf({
  reasoningEffort,
  thinkingBudgetTokens: budget,
}: ChatSettings): string | undefined {
  if (reasoningEffort !== undefined || budget === undefined || budget === 0) return reasoningEffort;
  return EFFORTS.find(({ upToTokens }) => budget <= upToTokens)?.effort ?? 'high';
}

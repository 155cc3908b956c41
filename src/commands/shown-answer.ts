import { printableText } from '../common/validation/text-rule.js';
import type { TextPage } from './operator-request.js';
import { tableOf } from './terminal-table.js';

/** The width of a terminal that reports none. */
const DEFAULT_COLUMNS = 80;

/** Where an answer is shown. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The answer as text: a table for a terminal, JSON for programs, texts unchanged. Control characters are removed for a terminal. */
export function shownOn(
  { isTTY = false, columns = 0 }: Output,
  answer: unknown,
  asJson: boolean,
): string {
  if (typeof answer !== 'string' && isTTY && !asJson) {
    return tableOf(answer, columns > 0 ? columns : DEFAULT_COLUMNS);
  }
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2);
  return isTTY ? printableText(text, '\r\n') : text;
}

/** Whether the answer is a page of text, whose cursor is beside it. JSON and tables contain their cursor. */
export function isTextPage(answer: unknown): answer is TextPage {
  return typeof (answer as { text?: unknown } | null)?.text === 'string';
}

import { printableText } from '../common/validation/text-rule.js';
import type { TextPage } from './operator-request.js';
import { tableOf } from './terminal-table.js';

/** Of a terminal that does not tell its width. */
const DEFAULT_COLUMNS = 80;

/** Where an answer is shown. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Text as it is, else a table for a terminal and JSON for programs. A terminal gets no character that it could execute. */
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

/** Whether the answer is text of which more follows. JSON and tables have their cursor in themselves. */
export function isTextPage(answer: unknown): answer is TextPage {
  return typeof (answer as { text?: unknown } | null)?.text === 'string';
}

import type { CsvHead } from '../common/csv.js';
import { NEXT_CURSOR_HEADER } from '../common/paging/page.view.js';
import type { TextPage } from './operator-request.js';

/** What a list answers as JSON or CSV; CSV of which more follows with its cursor. */
export async function csvPageOf<Answer>(
  answerTo: (head: CsvHead) => Promise<Answer>,
): Promise<Answer | TextPage> {
  const headers = new Map<string, string>();
  const answer = await answerTo({
    type: () => undefined,
    setHeader: (name, value) => headers.set(name, value),
  });
  const cursor = headers.get(NEXT_CURSOR_HEADER);
  if (typeof answer !== 'string' || cursor === undefined) return answer;
  return { text: answer, next_cursor: cursor };
}

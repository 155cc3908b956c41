import type { OperatorReply, OperatorRequest, TextPage } from './operator-request.js';
import { isTextPage } from './shown-answer.js';
import { CSV_LINE_END } from '../common/csv.js';

/** Maximum rows that `--all` collects in memory. CSV has no such limit: each page is printed when it arrives. */
const MAX_ROWS = 100_000;

/** A page of a list as commands answer it. */
export interface List {
  readonly object: 'list';
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
}

/** The next page to print, or the error that ends the list. */
type Printed = { readonly page: unknown } | { readonly error: string };
/** Asks for an answer, such as the next page. */
export type Ask = (request: OperatorRequest) => Promise<OperatorReply>;

/**
 * The answer. With `--all` it reads the following pages too: a list becomes one answer with all rows; CSV comes page by page, and
 * only the first page has the line of names.
 */
export async function* followPages(
  request: OperatorRequest,
  answer: unknown,
  ask: Ask,
): AsyncGenerator<Printed> {
  const goesOn = request.options.all === true && !request.name.includes(':');
  if (goesOn && isTextPage(answer)) yield* everyTextPage(request, answer, ask);
  else if (goesOn && isList(answer)) yield await wholeList(request, answer, ask);
  else yield { page: answer };
}

async function* everyTextPage(
  request: OperatorRequest,
  first: TextPage,
  ask: Ask,
): AsyncGenerator<Printed> {
  yield { page: first.text };
  let cursor: string | undefined = first.next_cursor;
  while (cursor !== undefined) {
    const reply = await ask(behind(request, cursor));
    if (!('answer' in reply)) {
      yield failure(reply);
      return;
    }
    const { answer } = reply;
    const text = isTextPage(answer) ? answer.text : String(answer);
    const end = text.indexOf(CSV_LINE_END);
    if (end >= 0) yield { page: text.slice(end + CSV_LINE_END.length) };
    cursor = isTextPage(answer) ? answer.next_cursor : undefined;
  }
}

async function wholeList(request: OperatorRequest, first: List, ask: Ask): Promise<Printed> {
  const data = [...first.data];
  let cursor = first.next_cursor;
  while (cursor !== null) {
    if (data.length >= MAX_ROWS) {
      return { error: `There are more than ${MAX_ROWS} rows. Take fewer, by filters or days.` };
    }
    const reply = await ask(behind(request, cursor));
    if (!('answer' in reply) || !isList(reply.answer)) return failure(reply);
    data.push(...reply.answer.data);
    cursor = reply.answer.next_cursor;
  }
  return { page: { ...first, data, has_more: false, next_cursor: null } };
}

const behind = (request: OperatorRequest, cursor: string): OperatorRequest => ({
  ...request,
  options: { ...request.options, cursor },
});

function failure(reply: OperatorReply): Printed {
  return { error: 'error' in reply ? reply.error : 'The list did not go on.' };
}

/** Whether the answer is a list. */
export function isList(answer: unknown): answer is List {
  return (answer as { object?: unknown } | null)?.object === 'list';
}

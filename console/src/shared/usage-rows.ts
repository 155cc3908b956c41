import { useQuery } from '@tanstack/preact-query';
import { answerOf, type Reply } from './api.js';
import type { UsageRow } from './usage-values.js';

const ROWS_OF_PAGE = 10_000;
const MOST_PAGES = 5;
const FRESH_MS = 60_000;

/** What is asked of a list of usage; all values as the address has them. */
export type UsageQuery = Readonly<Record<string, string>> & { readonly group_by: string };

interface UsageAnswer {
  readonly data: readonly UsageRow[];
  readonly next_cursor: string | null;
  readonly from: string;
  readonly to: string;
}

/** Reads a page of a list of usage. */
export type ReadUsage = (
  query: Readonly<Record<string, string | number>>,
) => Promise<Reply<UsageAnswer>>;

/** All rows of an answer. */
export interface UsageRows {
  readonly rows: readonly UsageRow[];
  /** There are more rows than a page of the console reads. */
  readonly isCut: boolean;
  /** A day, or a time where the rows are by hour. */
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
}

async function allRows(read: ReadUsage, query: UsageQuery): Promise<UsageRows> {
  const rows: UsageRow[] = [];
  let cursor: string | null = null;
  for (let page = 1; ; page += 1) {
    const asked: UsageQuery = { ...query, ...(cursor !== null && { cursor }) };
    const answer = await answerOf(read({ ...asked, limit: ROWS_OF_PAGE }));
    rows.push(...answer.data);
    cursor = answer.next_cursor;
    if (cursor === null || page === MOST_PAGES) {
      return { rows, isCut: cursor !== null, from: answer.from, to: answer.to };
    }
  }
}

/** All rows that a query has, page after page, up to 50,000; without a query nothing is asked. */
export function useUsageRows(path: string, read: ReadUsage, query: UsageQuery | undefined) {
  return useQuery({
    queryKey: [path, query],
    queryFn: () => allRows(read, query ?? { group_by: 'day' }),
    enabled: query !== undefined,
    staleTime: FRESH_MS,
  });
}

import {
  QueryClient,
  useInfiniteQuery,
  useQuery,
  type UseQueryResult,
} from '@tanstack/preact-query';
import { answerOf, ApiProblem, type Reply } from './api.js';
import { SESSION_KEY } from './session.js';

const FRESH_MS = 5_000;
const MOST_TRIES = 2;

/** All answers of the page. A refusal is not asked for again; a session that has ended opens the sign-in page. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) =>
        failures < MOST_TRIES &&
        !(error instanceof ApiProblem && error.status >= 400 && error.status < 500),
    },
  },
});
queries.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'updated' || query.state.status !== 'error') return;
  const { error } = query.state as { error: unknown };
  if ((query.queryKey as readonly unknown[])[0] !== SESSION_KEY[0]) endSessionOn(error);
});

/** Asks anew who is signed in where an answer says that nobody is. */
export function endSessionOn(error: unknown): void {
  if (error instanceof ApiProblem && error.status === 401) {
    void queries.invalidateQueries({ queryKey: SESSION_KEY });
  }
}

interface AskedAgain<T> {
  readonly everyMs: number;
  /** Whether the answer will change no more. */
  readonly until?: (answer: T) => boolean;
}

/** One answer, by its key; `again`: how often it is asked for as long as the screen is open and seen. */
export function useAnswer<T>(
  key: readonly unknown[],
  call: () => Promise<Reply<T>>,
  again?: AskedAgain<T>,
): UseQueryResult<T> {
  return useQuery({
    queryKey: key,
    queryFn: () => answerOf(call()),
    refetchInterval: ({ state: { data } }) =>
      again === undefined || (data !== undefined && again.until?.(data)) ? false : again.everyMs,
  });
}

/** A page of a list, as the API gives it. */
interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A list that is read page by page. */
export interface Pages<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly more: () => void;
}

/** A list by its cursor; `call` gets the cursor of the page, undefined for the first one. */
export function usePages<Row>(
  key: readonly unknown[],
  call: (cursor: string | undefined) => Promise<Reply<ListPage<Row>>>,
  everyMs?: number,
): Pages<Row> {
  const result = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }: { pageParam: string | undefined }) => answerOf(call(pageParam)),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ has_more: hasMore, next_cursor: cursor }) =>
      hasMore ? (cursor ?? undefined) : undefined,
    refetchInterval: everyMs ?? false,
  });
  return {
    rows: result.data?.pages.flatMap(({ data }) => data),
    error: result.error ?? undefined,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    more: () => void result.fetchNextPage(),
  };
}

import { isJsonObject } from '../../common/json-object.js';
import { given, without } from '../parse-options.js';
import type { OperatorReply, OperatorRequest } from '../operator-request.js';
import { cellAnswerOf, CellRows, CellsError, faultIn, type Place, type Row } from './cell-rows.js';
import { sumOfAudits, sumsOfGroups } from './cell-sums.js';
import type { AskedCell } from './open-cells.js';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Most rows of a list with `--all`. */
const MAX_ROWS = 100_000;
/** Most groups of usage that are added up. */
const MAX_GROUPS = 100_000;
const GROUPS_OF_A_PAGE = '10000';

type Compare = (one: Row, other: Row) => number;

const NEWEST: Compare = (one, other) =>
  Number(other.created_at) - Number(one.created_at) || (String(one.id) < String(other.id) ? 1 : -1);
const OLDEST: Compare = (one, other) => -NEWEST(one, other);
const byAmount =
  (name: string, factor: 1 | -1): Compare =>
  (one, other) => {
    const difference = BigInt(String(one[name])) - BigInt(String(other[name]));
    return difference === 0n ? NEWEST(one, other) : factor * (difference < 0n ? -1 : 1);
  };
/** All entries of one account after the other, as each cell lists them. */
const BY_ACCOUNT: Compare = (one, other) =>
  one.account_id === other.account_id
    ? NEWEST(one, other)
    : String(one.account_id) < String(other.account_id)
      ? 1
      : -1;
const ACCOUNTS: Readonly<Record<string, Compare>> = {
  available: byAmount('available_microusd', 1),
  burn: byAmount('burn_microusd_per_day', -1),
};

/**
 * One reply of several cells: lists are merged in their order and named by cell, usage and audits are added up, and a
 * record is that of the cell that has it. What one cell cannot answer fails the whole command.
 */
export async function askCells(
  cells: readonly AskedCell[],
  request: OperatorRequest,
): Promise<OperatorReply> {
  const { name, options } = request;
  const wrong = misuseOf(request);
  if (wrong !== undefined) return { usage: wrong };
  const plain = { ...request, options: without(options, 'cells') };
  try {
    switch (name) {
      case 'audit':
        return { answer: sumOfAudits(await recordsOf(cells, plain)) };
      case 'usage':
      case 'margin':
        return { answer: await sums(cells, plain) };
      case 'account':
      case 'execution':
      case 'key':
        return await recordIn(cells, plain);
      default:
        return { answer: await merged(cells, plain) };
    }
  } catch (error) {
    if (error instanceof CellsError) return { error: error.message };
    throw error;
  }
}

/** The commands whose first word names an account of one cell. */
const BY_ACCOUNT_WORD: readonly string[] = ['ledger', 'keys'];

/** What several cells cannot answer together. */
function misuseOf({ name, words, options }: OperatorRequest): string | undefined {
  const account = options['account-id'] ?? (BY_ACCOUNT_WORD.includes(name) ? words[0] : undefined);
  if (typeof account === 'string' && !account.startsWith('acct_')) {
    return `Name the account by its id: two cells may each have one named ${JSON.stringify(account)}. "account ${account}" with --cells finds it.`;
  }
  if (options.csv === true) return '--csv is of one cell: leave out --cells, or --csv.';
  if (options.sort === 'spent') return '--sort spent is of one cell: use available or burn.';
  const isSum = name === 'usage' || name === 'margin';
  if (isSum && (options.limit ?? options.cursor) !== undefined) {
    return `${name} of several cells is one answer without pages: leave out --limit and --cursor.`;
  }
  return undefined;
}

async function recordsOf(cells: readonly AskedCell[], request: OperatorRequest): Promise<Row[]> {
  const answers = await Promise.all(cells.map((cell) => cellAnswerOf(cell, request)));
  return answers.filter((answer) => answer !== undefined);
}

/** An account that has moved is in two cells: its row stays in the one that it left. */
async function recordIn(
  cells: readonly AskedCell[],
  request: OperatorRequest,
): Promise<OperatorReply> {
  const data = await recordsOf(cells, request);
  if (data.length === 1) return { answer: data[0] };
  if (data.length > 1) return { answer: listOf(data, null) };
  return { error: `No cell knows ${namesIn(request)}.`, isUnknown: true };
}

async function sums(cells: readonly AskedCell[], request: OperatorRequest): Promise<Row> {
  const options = { ...without(request.options, 'all'), limit: GROUPS_OF_A_PAGE };
  const rows: Row[] = [];
  let unknown = 0;
  for (const cell of cells) {
    const all = new CellRows(cell, { ...request, options }, [null, null]);
    for (let row = await all.head(); row !== undefined; row = await all.head()) {
      const { cell: _, ...group } = row;
      rows.push(group);
      all.take();
      if (rows.length > MAX_GROUPS) throw faultIn(cell, 'Too many groups: name fewer days.');
    }
    if (all.isUnknown) unknown += 1;
  }
  if (unknown === cells.length) throw new CellsError(`No cell knows ${namesIn(request)}.`);
  return listOf(sumsOfGroups(rows, request.name === 'margin'), null);
}

async function merged(cells: readonly AskedCell[], request: OperatorRequest): Promise<Row> {
  const { all, cursor, ...options } = request.options;
  const typed = Math.min(Number(given(options, 'limit') ?? DEFAULT_LIMIT), MAX_LIMIT);
  const limit = all === true ? MAX_ROWS : typed;
  const places = placesOf(typeof cursor === 'string' ? cursor : undefined, cells);
  const plain = {
    ...request,
    options: { ...options, ...(all === true && { limit: String(MAX_LIMIT) }) },
  };
  const lists = cells.map((cell, index) => {
    const place = places[index];
    return place ? new CellRows(cell, plain, place) : undefined;
  });
  const compare = orderOf(request);
  const heads = await Promise.all(lists.map(async (list) => list?.head()));
  if (lists.every((list) => list?.isUnknown === true)) {
    throw new CellsError(`No cell knows ${namesIn(request)}.`);
  }
  const rows: Row[] = [];
  while (rows.length < limit) {
    const first = firstOf(heads, compare);
    const [row, list] = [heads[first], lists[first]];
    if (row === undefined || list === undefined) break;
    rows.push(row);
    list.take();
    heads[first] = await list.head();
  }
  const rest = lists.map((list) => list?.place ?? null);
  if (rest.every((place) => place === null)) return listOf(rows, null);
  if (all !== true) return listOf(rows, cursorOfPlaces(rest));
  throw new CellsError(`There are more than ${MAX_ROWS} rows. Take fewer, by filters or days.`);
}

const namesIn = ({ words, options }: OperatorRequest): string =>
  words[0] ?? String(options['account-id'] ?? 'it');

function orderOf({ name, words, options }: OperatorRequest): Compare {
  if (name === 'holds') return OLDEST;
  if (name === 'ledger' && words.length === 0) return BY_ACCOUNT;
  return ACCOUNTS[String(options.sort)] ?? NEWEST;
}

/** The position of the row that comes first; -1 where there is none. */
function firstOf(heads: readonly (Row | undefined)[], compare: Compare): number {
  return heads.reduce((first, head, index) => {
    if (head === undefined) return first;
    const best = heads[first];
    return best === undefined || compare(head, best) < 0 ? index : first;
  }, -1);
}

const listOf = (data: readonly Row[], cursor: string | null): Row => ({
  object: 'list',
  data,
  has_more: cursor !== null,
  next_cursor: cursor,
});

/** One cursor of all lists: where each goes on. */
const cursorOfPlaces = (places: readonly Place[]): string =>
  Buffer.from(JSON.stringify({ places })).toString('base64url');

/** Throws {@link CellsError} for a text that such a list with as many cells did not give. */
function placesOf(cursor: string | undefined, cells: readonly AskedCell[]): readonly Place[] {
  if (cursor === undefined) return cells.map(() => [null, null]);
  try {
    const sent: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const places = isJsonObject(sent) ? sent.places : undefined;
    if (Array.isArray(places) && places.length === cells.length && places.every(isPlace)) {
      return places;
    }
  } catch {
    // Told below.
  }
  throw new CellsError('--cursor is not one that a list of these cells gave.');
}

const isPlace = (place: unknown): place is Place =>
  place === null ||
  (Array.isArray(place) &&
    place.length === 2 &&
    place.every((part) => part === null || typeof part === 'string'));

import { GatewayError } from '../errors/gateway-error.js';

/** The requested part of a list: at most `limit` rows, after the row that `cursor` names. */
export interface PageRequest {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** One part of a list. `nextCursor` requests the next part; it is null at the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

const CURSOR = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  position: /^[0-9]{1,18}$/,
  'uuid.position': /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9]{1,18}$/,
};

/** The cursor of a request, or null for the first page; 400 invalid_request if it is invalid. */
export function cursorOf(request: PageRequest, kind: keyof typeof CURSOR): string | null {
  if (request.cursor === undefined) return null;
  if (CURSOR[kind].test(request.cursor)) return request.cursor;
  throw new GatewayError('invalid_request', 'cursor is not one that this list returned.', {
    param: 'cursor',
  });
}

/** A page of `rows`. One row more than `limit` was read, to find out whether there is a next page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  itemOf: (row: Row) => Item,
  keyOf: (row: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(itemOf),
    nextCursor: rows.length > limit && last !== undefined ? keyOf(last) : null,
  };
}

import { GatewayError } from '../errors/gateway-error.js';
import { fromPublicId, type IdPrefix } from './public-id.js';

const NOUNS: Readonly<Record<IdPrefix, string>> = {
  acct: 'account',
  entry: 'entry',
  exec: 'execution',
  key: 'key',
  ses: 'session',
  task: 'task',
  whd: 'delivery',
  whe: 'webhook endpoint',
};

/** The UUID of the public id in a path. Text in another format throws the same 404 `not_found` as an unknown id. */
export function pathId(prefix: IdPrefix, id: string): string {
  const uuid = fromPublicId(prefix, id);
  if (uuid === undefined) throw notFound(prefix);
  return uuid;
}

/** The UUID of the public id in a filter, if there is one. Throws 400 `invalid_request` for text in another format. */
export function filterId(
  prefix: IdPrefix,
  param: string,
  id: string | undefined,
): string | undefined {
  if (id === undefined) return undefined;
  const uuid = fromPublicId(prefix, id);
  if (uuid !== undefined) return uuid;
  const message = `${param} must be the id of one ${NOUNS[prefix]}: ${prefix}_ and 32 hexadecimal digits.`;
  throw new GatewayError('invalid_request', message, { param });
}

/** What to do where there is no such thing although an id of it was told. */
const HINTS: Partial<Record<IdPrefix, string>> = {
  exec: " A call that was refused before its price was held leaves no record, only its line in the gateway's log: it has the id as execution_id, the error code and the param.",
};

/** The 404 `not_found` for an unknown id. */
export function notFound(prefix: IdPrefix): GatewayError {
  const message = `No such ${NOUNS[prefix]}.${HINTS[prefix] ?? ''}`;
  return new GatewayError('not_found', message, { param: 'id' });
}

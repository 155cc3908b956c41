import { GatewayError } from '../errors/gateway-error.js';
import { fromPublicId, type IdPrefix } from './public-id.js';

const NOUNS: Readonly<Record<IdPrefix, string>> = {
  acct: 'account',
  entry: 'entry',
  exec: 'execution',
  key: 'key',
  task: 'task',
  whd: 'delivery',
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

/** The 404 `not_found` for an unknown id. */
export function notFound(prefix: IdPrefix): GatewayError {
  return new GatewayError('not_found', `No such ${NOUNS[prefix]}.`, { param: 'id' });
}

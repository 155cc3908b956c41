import { GatewayError } from '../errors/gateway-error.js';

/** The times of a list's query, in epoch seconds. */
export interface TimeQuery {
  readonly created_after?: number | undefined;
  readonly created_before?: number | undefined;
}

/** The times between which the rows of a list were made. */
export interface CreationTimes {
  /** Inclusive. */
  readonly createdAfter: Date | undefined;
  /** Exclusive. */
  readonly createdBefore: Date | undefined;
}

/** The times of a query. Throws 400 `invalid_request` where no time lies between them. */
export function timeRangeOf({
  created_after: after,
  created_before: before,
}: TimeQuery): CreationTimes {
  if (after !== undefined && before !== undefined && after >= before) {
    const message =
      'created_before must be later than created_after: it is exclusive, so nothing lies between them.';
    throw new GatewayError('invalid_request', message, { param: 'created_before' });
  }
  return { createdAfter: dateOf(after), createdBefore: dateOf(before) };
}

function dateOf(epochSeconds: number | undefined): Date | undefined {
  return epochSeconds === undefined ? undefined : new Date(epochSeconds * 1000);
}

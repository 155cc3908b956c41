import { endpointsOf, OPERATION_NAMES, OPERATIONS } from '../../catalog/operations.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { PriceRule } from '../../catalog/price-rule.js';
import type { Operation } from '../../providers/ports/provider-ports.js';

/** What usage counts. A dub, a song, a video or music that is sold by the song counts as one; a call that became a task as the call does. */
export const USAGE_UNITS = ['code_point', 'second', 'image', 'token', 'task'] as const;
export type UsageUnit = (typeof USAGE_UNITS)[number];

const TASKS: readonly Operation[] = ['video', 'dubbing', 'song'];
const UNIT_OF_PRICE: Readonly<Record<PriceRule['unit'], UsageUnit>> = {
  token: 'token',
  code_point: 'code_point',
  measured_second: 'second',
  requested_second: 'second',
  request: 'image',
  video: 'task',
};

function unitOf(operation: Operation): UsageUnit {
  return TASKS.includes(operation) ? 'task' : UNIT_OF_PRICE[OPERATIONS[operation].unit];
}

const UNITS_BY_ENDPOINT = OPERATION_NAMES.flatMap((operation) =>
  endpointsOf(operation).map(({ path }) => `WHEN '${path}' THEN '${unitOf(operation)}'`),
).join(' ');

/**
 * SQL: the unit of what is counted for the `endpoint` and the `model` of a row; null for an endpoint of another version, and for music of a
 * model that is not known any more. `music` is the parameter with {@link musicUnitsOf}.
 */
export const unitOfRow = (music: string): string =>
  `CASE WHEN endpoint = '${OPERATIONS.composition.path}' THEN ${music}::jsonb ->> model
        ELSE CASE endpoint ${UNITS_BY_ENDPOINT} END END`;

/** The units of the models of music as JSON, by their ids: some are sold by the second, some by the song. */
export function musicUnitsOf(catalog: Pick<Catalog, 'music'>): string {
  const units = catalog
    .music()
    .map(({ id, price }): [string, UsageUnit] => [
      id,
      price.unit === 'request' ? 'task' : UNIT_OF_PRICE[price.unit],
    ]);
  return JSON.stringify(Object.fromEntries(units));
}

/** SQL: the only unit of a group; null where it has several, or unknown ones. */
export const ONE_UNIT = `CASE WHEN bool_and(unit IS NOT NULL) FILTER (WHERE quantity <> 0)
            AND min(unit) FILTER (WHERE quantity <> 0) = max(unit) FILTER (WHERE quantity <> 0) THEN max(unit) FILTER (WHERE quantity <> 0) END`;

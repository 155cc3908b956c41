import { isJsonObject } from '../../common/json-object.js';
import type { PartFault } from '../../common/validation/fields.js';
import { faultAt } from '../../common/validation/clean-json.js';

const TIMES: readonly unknown[] = [undefined, null, '5m', '1h'];

/** `cache_control`: how long the vendor is to keep the prompt up to here. */
export function cacheFault(cache: unknown): PartFault | undefined {
  if (cache === undefined || cache === null) return undefined;
  if (!isJsonObject(cache)) return faultAt('', 'must be an object');
  if (cache.type !== 'ephemeral') return faultAt('.type', 'must be ephemeral');
  return TIMES.includes(cache.ttl) ? undefined : faultAt('.ttl', 'must be 5m or 1h');
}

import { isJsonObject } from '../../common/json-object.js';
import type { ErrorFinding } from '../http/error-classification.js';

/** The provider's queue is full: nothing was taken on. */
const QUEUE_EXHAUSTED = 499;
/** The provider waited for the result in vain; the work may go on. */
const SYNC_TIMEOUT = 504;

/**
 * Reads `{status: "FAILED", message}`. That shape says that the provider itself has refused, which a bare 5xx does not;
 * the message is the provider's own text and stays there.
 */
export function classifyTtapiError(status: number, body: unknown): ErrorFinding {
  if (status === QUEUE_EXHAUSTED) return { code: 'queue_exhausted', kind: 'rate_limited' };
  const isOwnRefusal = isJsonObject(body) && body.status === 'FAILED' && status !== SYNC_TIMEOUT;
  return isOwnRefusal ? { code: 'FAILED' } : {};
}

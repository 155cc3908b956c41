import { isJsonObject } from '../../common/json-object.js';
import type { OwnErrors } from '../http/error-classification.js';
import { isFailureWord, jobFailure } from '../http/job-state.js';

/** The queue of the provider is full; it accepted nothing. */
const QUEUE_EXHAUSTED = 499;
/** The provider waited too long for the result; its work may go on. */
const SYNC_TIMEOUT = 504;

/**
 * Reads `{status: "FAILED", message}`. In this format the provider itself has rejected the request; a 5xx without it is
 * a failure. The message is the provider's own text, for operators.
 */
export const ownTtapiErrors: OwnErrors = (status, body) => {
  if (status === QUEUE_EXHAUSTED) return { code: 'queue_exhausted', kind: 'rate_limited' };
  if (!isJsonObject(body) || !isFailureWord(body.status) || status === SYNC_TIMEOUT)
    return undefined;
  const { code, message } = jobFailure(body, null);
  // With a code, the error is treated as the provider's own rejection. This code says nothing and is never shown to
  // callers.
  return { code: code ?? 'FAILED', message: message ?? undefined };
};

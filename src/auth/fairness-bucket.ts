import type { Request } from 'express';
import type { KeyCache } from './key-cache.js';
import { sentKeyOf } from './sent-key.js';
import type { UnknownKeyLimiter } from './unknown-key-limiter.js';

/** Bucket of all requests whose key was not seen before. */
const NEW = 'new';
/** Bucket of all requests without a key, and of unknown keys from addresses that sent too many of them. */
const NOBODY = 'nobody';

/**
 * Returns the fairness bucket of a request before authentication: the account of a cached key, `new` for a key not seen
 * yet, `nobody` for no key or an address that guesses keys. Separate buckets keep floods of guessed keys from crowding
 * out keys that are used for the first time.
 */
export function fairnessBucketOf(
  keys: Pick<KeyCache, 'accountOf'>,
  unknownKeys: Pick<UnknownKeyLimiter, 'waitMs'>,
): (request: Pick<Request, 'headers' | 'ip' | 'path'>) => string {
  return (request) => {
    const key = sentKeyOf(request);
    if (key === undefined) return NOBODY;
    return keys.accountOf(key) ?? (unknownKeys.waitMs(request.ip) > 0 ? NOBODY : NEW);
  };
}

import type { Request } from 'express';
import { bearerTokenOf } from '../common/secrets/bearer-token.js';
import type { KeyCache } from './key-cache.js';
import type { UnknownKeyLimiter } from './unknown-key-limiter.js';

/** Holder of all requests whose key was not seen before. */
const NEW = 'new';
/** Holder of all requests without a key, and of unknown keys from addresses that guess. */
const NOBODY = 'nobody';

/**
 * Whose request it is, for sharing equally before anything is looked up: an account, or one of two that stand for all
 * others, so that neither guesses nor requests without a key take the room of keys that are used for the first time.
 */
export function fairnessBucketOf(
  keys: Pick<KeyCache, 'accountOf'>,
  guesses: Pick<UnknownKeyLimiter, 'waitMs'>,
): (request: Pick<Request, 'headers' | 'ip'>) => string {
  return (request) => {
    const key = bearerTokenOf(request.headers.authorization);
    if (key === undefined) return NOBODY;
    return keys.accountOf(key) ?? (guesses.waitMs(request.ip) > 0 ? NOBODY : NEW);
  };
}

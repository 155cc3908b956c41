import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock.js';
import { FailedAttemptLimiter } from '../platform/http-server/client-limits/failed-attempt-limiter.js';

/** Maximum unknown keys per address and minute. Further ones are rejected without a database query. */
const UNKNOWN_KEYS_PER_MINUTE = 600;

/** Counts the unknown keys that each address sends. */
@Injectable()
export class UnknownKeyLimiter extends FailedAttemptLimiter {
  constructor(clock: Clock) {
    super(UNKNOWN_KEYS_PER_MINUTE, clock);
  }
}

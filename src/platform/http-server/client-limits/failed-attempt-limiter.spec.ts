import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../../common/time/clock.js';
import { FailedAttemptLimiter } from './failed-attempt-limiter.js';

class HandMovedClock extends SystemClock {
  ms = 1_000_000;

  override nowMs(): number {
    return this.ms;
  }
}

describe('FailedAttemptLimiter', () => {
  it('makes an address wait for the rest of its minute after the last guess it has', () => {
    const clock = new HandMovedClock();
    const limit = new FailedAttemptLimiter(3, clock);
    for (let count = 0; count < 3; count++) {
      expect(limit.waitMs('192.0.2.1')).toBe(0);
      limit.failed('192.0.2.1');
    }
    clock.ms += 20_000;
    expect(limit.waitMs('192.0.2.1')).toBe(40_000);
    expect(limit.waitMs('192.0.2.2')).toBe(0);
    clock.ms += 40_000;
    expect(limit.waitMs('192.0.2.1')).toBe(0);
  });

  it('counts the addresses of one IPv6 customer as one, and mapped IPv4 addresses apart', () => {
    const limit = new FailedAttemptLimiter(1, new HandMovedClock());
    limit.failed('2001:db8:1:2:3:4:5:6');
    limit.failed('::ffff:192.0.2.1');
    expect(limit.waitMs('2001:db8:1:2::9')).toBeGreaterThan(0);
    expect(limit.waitMs('2001:db8:1:3::9')).toBe(0);
    expect(limit.waitMs('::ffff:192.0.2.2')).toBe(0);
  });
});

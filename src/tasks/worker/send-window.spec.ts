import { expect, it } from '@jest/globals';
import { Clock } from '../../common/time/clock.js';
import { LEASE_MS } from '../task-lane.js';
import { momentBy, SEND_WINDOW_MS, SendWindow } from './send-window.js';

class MovedClock extends Clock {
  ms = 1_000_000;

  nowMs(): number {
    return this.ms;
  }
}

it('the window closes well before the lease ends, and each confirmed lease opens it anew', () => {
  const clock = new MovedClock();
  const window = new SendWindow(clock, momentBy(clock));
  expect(SEND_WINDOW_MS).toBeLessThan(LEASE_MS);
  clock.ms += SEND_WINDOW_MS - 1;
  expect(window.isOpen).toBe(true);
  const asked = window.now();
  clock.ms += 1;
  expect(window.isOpen).toBe(false);
  window.confirmedAt(asked);
  expect(window.isOpen).toBe(true);
});

it('a clock that is set back does not keep the window open', () => {
  const clock = new MovedClock();
  const longAgo = performance.now() - SEND_WINDOW_MS;
  const window = new SendWindow(clock, { monotonicMs: longAgo, wallMs: clock.ms });
  clock.ms -= 3_600_000;
  expect(window.isOpen).toBe(false);
});

import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../common/time/clock.js';
import { type BreakerState, CircuitBreaker } from './circuit-breaker.js';

class HandClock extends Clock {
  ms = 1_000_000;
  nowMs(): number {
    return this.ms;
  }
}

function setUp() {
  const clock = new HandClock();
  const states: BreakerState[] = [];
  const breaker = new CircuitBreaker(clock, (state) => states.push(state));
  const call = (outcome: 'succeeded' | 'failed' | 'abandoned', times = 1): void => {
    for (let count = 0; count < times; count += 1) breaker.enter()?.[outcome]();
  };
  return { clock, states, breaker, call };
}

describe('CircuitBreaker', () => {
  it('opens after 10 failures in a row, not after 9', () => {
    const { breaker, call, states } = setUp();
    call('failed', 9);
    expect(breaker.enter()).not.toBeNull();
    call('failed');
    expect(breaker.enter()).toBeNull();
    expect(states).toEqual(['open']);
  });

  it('starts counting anew after a success', () => {
    const { breaker, call, clock } = setUp();
    call('failed', 9);
    call('succeeded');
    clock.ms += 11_000;
    call('failed', 9);
    expect(breaker.enter()).not.toBeNull();
  });

  it('takes refusals and abandoned calls for neither success nor failure', () => {
    const { breaker, call } = setUp();
    call('failed', 9);
    call('abandoned', 50);
    expect(breaker.enter()).not.toBeNull();
    call('failed');
    expect(breaker.enter()).toBeNull();
  });

  it('opens when more than half of at least 20 calls within 10 s failed', () => {
    const { breaker, call } = setUp();
    for (let pair = 0; pair < 10; pair += 1) {
      call('succeeded');
      call('failed');
    }
    expect(breaker.enter()).not.toBeNull();
    call('failed');
    expect(breaker.enter()).toBeNull();
  });

  it('stays closed when fewer than 20 calls fell into the window', () => {
    const { breaker, call } = setUp();
    for (let round = 0; round < 6; round += 1) {
      call('succeeded');
      call('failed', 2);
    }
    expect(breaker.enter()).not.toBeNull();
  });

  it('forgets what is more than 10 s ago', () => {
    const { breaker, call, clock } = setUp();
    for (let pair = 0; pair < 10; pair += 1) {
      call('failed');
      call('succeeded');
    }
    clock.ms += 10_000;
    call('failed', 9);
    expect(breaker.enter()).not.toBeNull();
  });

  it('lets one call through after 10 s, and closes when it succeeds', () => {
    const { breaker, call, clock, states } = setUp();
    call('failed', 10);
    clock.ms += 9_999;
    expect(breaker.enter()).toBeNull();
    clock.ms += 1;
    const probe = breaker.enter();
    expect(breaker.enter()).toBeNull();
    probe?.succeeded();
    expect(breaker.enter()).not.toBeNull();
    expect(states).toEqual(['open', 'half_open', 'closed']);
  });

  it('stays open another 10 s when the probe fails', () => {
    const { breaker, call, clock } = setUp();
    call('failed', 10);
    clock.ms += 10_000;
    breaker.enter()?.failed();
    clock.ms += 9_999;
    expect(breaker.enter()).toBeNull();
    clock.ms += 1;
    expect(breaker.enter()).not.toBeNull();
  });

  it('lets the next call probe at once when the probe was abandoned', () => {
    const { breaker, call, clock } = setUp();
    call('failed', 10);
    clock.ms += 10_000;
    breaker.enter()?.abandoned();
    expect(breaker.enter()).not.toBeNull();
  });

  it('ignores outcomes of calls begun before it opened', () => {
    const { breaker, call } = setUp();
    const early = breaker.enter();
    call('failed', 10);
    early?.succeeded();
    expect(breaker.enter()).toBeNull();
  });
});

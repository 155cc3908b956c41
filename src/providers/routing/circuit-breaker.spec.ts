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
  const attempt = (outcome: 'succeeded' | 'failed' | 'abandoned', times = 1): void => {
    for (let count = 0; count < times; count += 1) breaker.enter()?.[outcome]();
  };
  return { clock, states, breaker, attempt };
}

describe('CircuitBreaker', () => {
  it('opens after 10 failures in a row, not after 9', () => {
    const { breaker, attempt, states } = setUp();
    attempt('failed', 9);
    expect(breaker.enter()).not.toBeNull();
    attempt('failed');
    expect(breaker.enter()).toBeNull();
    expect(states).toEqual(['open']);
  });

  it('starts counting again after a success', () => {
    const { breaker, attempt, clock } = setUp();
    attempt('failed', 9);
    attempt('succeeded');
    clock.ms += 11_000;
    attempt('failed', 9);
    expect(breaker.enter()).not.toBeNull();
  });

  it('counts rejections and abandoned attempts neither as success nor as failure', () => {
    const { breaker, attempt } = setUp();
    attempt('failed', 9);
    attempt('abandoned', 50);
    expect(breaker.enter()).not.toBeNull();
    attempt('failed');
    expect(breaker.enter()).toBeNull();
  });

  it('opens when more than half of at least 20 attempts within 10 s failed', () => {
    const { breaker, attempt } = setUp();
    for (let pair = 0; pair < 10; pair += 1) {
      attempt('succeeded');
      attempt('failed');
    }
    expect(breaker.enter()).not.toBeNull();
    attempt('failed');
    expect(breaker.enter()).toBeNull();
  });

  it('stays closed when fewer than 20 attempts fell into the window', () => {
    const { breaker, attempt } = setUp();
    for (let round = 0; round < 6; round += 1) {
      attempt('succeeded');
      attempt('failed', 2);
    }
    expect(breaker.enter()).not.toBeNull();
  });

  it('forgets what is more than 10 s ago', () => {
    const { breaker, attempt, clock } = setUp();
    for (let pair = 0; pair < 10; pair += 1) {
      attempt('failed');
      attempt('succeeded');
    }
    clock.ms += 10_000;
    attempt('failed', 9);
    expect(breaker.enter()).not.toBeNull();
  });

  it('lets one attempt through after 10 s, and closes when it succeeds', () => {
    const { breaker, attempt, clock, states } = setUp();
    attempt('failed', 10);
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
    const { breaker, attempt, clock } = setUp();
    attempt('failed', 10);
    clock.ms += 10_000;
    breaker.enter()?.failed();
    clock.ms += 9_999;
    expect(breaker.enter()).toBeNull();
    clock.ms += 1;
    expect(breaker.enter()).not.toBeNull();
  });

  it('lets the next attempt probe at once when the probe was abandoned', () => {
    const { breaker, attempt, clock } = setUp();
    attempt('failed', 10);
    clock.ms += 10_000;
    breaker.enter()?.abandoned();
    expect(breaker.enter()).not.toBeNull();
  });

  it('ignores outcomes of attempts begun before it opened', () => {
    const { breaker, attempt } = setUp();
    const early = breaker.enter();
    attempt('failed', 10);
    early?.succeeded();
    expect(breaker.enter()).toBeNull();
  });
});

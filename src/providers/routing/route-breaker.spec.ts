import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../common/time/clock.js';
import { RouteBreaker } from './route-breaker.js';

class HandMovedClock extends SystemClock {
  ms = 1_000_000;

  override nowMs(): number {
    return this.ms;
  }
}

function route() {
  const clock = new HandMovedClock();
  const states: string[] = [];
  const breaker = new RouteBreaker(clock, (state) => states.push(state));
  const fail = (accountId: string, times: number) => {
    for (let time = 0; time < times; time++) breaker.enter(accountId)?.failed();
  };
  return { breaker, clock, states, fail };
}

describe('RouteBreaker', () => {
  it('closes the route only for the one account whose attempts fail', () => {
    const { breaker, states, fail } = route();
    fail('a', 10);
    expect(breaker.enter('a')).toBeNull();
    expect(breaker.enter('b')).not.toBeNull();
    expect(states).toEqual([]);
  });

  it('lets other accounts through however long one account fails', () => {
    const { breaker, clock, states, fail } = route();
    for (let second = 0; second < 120; second++) {
      fail('a', 20);
      if (second % 40 === 0) breaker.enter('b')?.succeeded();
      clock.ms += 1_000;
    }
    expect(states).toEqual([]);
    expect(breaker.enter('b')).not.toBeNull();
  });

  it('closes the route for everybody when attempts of several accounts fail', () => {
    const { breaker, states, fail } = route();
    fail('a', 5);
    fail('b', 5);
    expect(breaker.enter('c')).toBeNull();
    expect(states).toEqual(['open']);
  });

  it('lets one attempt of any account test whether the route works again', () => {
    const { breaker, clock, states, fail } = route();
    for (const id of ['a', 'b', 'c', 'd']) fail(id, 3);
    clock.ms += 10_000;
    const probe = breaker.enter('e');
    expect(breaker.enter('f')).toBeNull();
    probe?.succeeded();
    expect(breaker.enter('f')).not.toBeNull();
    expect(states).toEqual(['open', 'half_open', 'closed']);
  });
});

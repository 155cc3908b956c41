import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LoadShedder } from './load-shedder.js';

const MAX = 8;
const MAX_READS = 80;
/** Places that stay open for three seconds after a crowd that lasted. */
const OPEN = 2;

function setUp(maxWaiting = MAX) {
  const state = { ms: 0, holds: new Map<string, number>() };
  const shedder = new LoadShedder({
    maxWaiting,
    bucketOf: ({ headers }) => headers.authorization ?? 'nobody',
    holds: {
      get readyCalls() {
        return [...state.holds.values()].reduce((sum, count) => sum + count, 0);
      },
      get readyGroups() {
        return state.holds.size;
      },
      readyCallsOf: (account) => state.holds.get(account) ?? 0,
    },
    nowMs: () => state.ms,
  });
  return { shedder, state };
}

const request = (method: string, holder: string) =>
  ({ method, url: '/v1/any', headers: { authorization: holder } }) as IncomingMessage;
const post = (holder: string) => request('POST', holder);
const read = (holder: string) => request('GET', holder);

/** Lets requests wait; returns what begins each. */
function wait(shedder: LoadShedder, count: number, made: IncomingMessage): (() => void)[] {
  return Array.from({ length: count }, () => shedder.counted(made, () => undefined));
}

/** A crowd of one account that lasts. */
function crowded(made = post('a')) {
  const { shedder, state } = setUp();
  const begins = wait(shedder, made.method === 'GET' ? MAX_READS : MAX, made);
  expect(shedder.refuses(made)).toBe(false);
  state.ms += 1_000;
  return { shedder, state, begins };
}

describe('what waits to begin', () => {
  it('is refused further when as many as may have waited for a second, until a quarter waits', () => {
    const { shedder, begins } = crowded();
    for (let waiting = MAX; waiting >= OPEN; waiting -= 1) {
      expect(shedder.refuses(post('a'))).toBe(true);
      begins.pop()?.();
    }
    expect(shedder.refuses(post('a'))).toBe(false);
  });

  it('opens the full capacity three seconds after the last refusal at full capacity', () => {
    const { shedder, state } = crowded();
    expect(shedder.refuses(post('a'))).toBe(true);
    state.ms += 2_900;
    expect(shedder.refuses(post('a'))).toBe(true);
    const { shedder: other, state: later, begins } = crowded();
    expect(other.refuses(post('a'))).toBe(true);
    begins.pop()?.();
    later.ms += 3_000;
    expect(other.refuses(post('a'))).toBe(false);
    wait(other, 1, post('a'));
    expect(other.refuses(post('a'))).toBe(true);
  });

  it('is served whole, however much it is, when it is gone within a second', () => {
    const { shedder, state } = setUp();
    const begins = wait(shedder, 1_000, post('a'));
    expect(shedder.refuses(post('a'))).toBe(false);
    state.ms += 900;
    for (const begin of begins) begin();
    expect(shedder.refuses(post('a'))).toBe(false);
    wait(shedder, 1_000, post('a'));
    state.ms += 900;
    expect(shedder.refuses(post('a'))).toBe(false);
  });

  it('tolerates another second of overload only after two seconds below full capacity', () => {
    const { shedder, state, begins } = crowded();
    expect(shedder.refuses(post('a'))).toBe(true);
    for (const begin of begins) begin();
    expect(shedder.refuses(post('a'))).toBe(false);
    state.ms += 4_900;
    const again = wait(shedder, MAX, post('a'));
    expect(shedder.refuses(post('a'))).toBe(true);
    for (const begin of again) begin();
    state.ms += 5_000;
    expect(shedder.refuses(post('a'))).toBe(false);
    wait(shedder, MAX, post('a'));
    expect(shedder.refuses(post('a'))).toBe(false);
  });

  it('counts calls that wait for their hold', () => {
    const { shedder, state } = setUp();
    state.holds.set('a', MAX);
    expect(shedder.refuses(post('a'))).toBe(false);
    state.ms += 1_000;
    expect(shedder.refuses(post('a'))).toBe(true);
    expect(shedder.refuses(read('a'))).toBe(false);
    state.holds.clear();
    expect(shedder.refuses(post('a'))).toBe(false);
  });

  it('is never refused without a limit', () => {
    const { shedder, state } = setUp(0);
    wait(shedder, 10_000, post('a'));
    state.ms += 10_000;
    expect(shedder.refuses(post('a'))).toBe(false);
  });
});

describe('one account in a crowd', () => {
  it('does not reduce the shares of other accounts, however much it sends', () => {
    const { shedder, state } = setUp(4 * MAX);
    wait(shedder, 4 * MAX, post('a'));
    shedder.refuses(post('a'));
    state.ms += 1_000;
    for (let waiting = 0; waiting < MAX / 2; waiting += 1) {
      expect(shedder.refuses(post('a'))).toBe(true);
      expect(shedder.refuses(post('b'))).toBe(false);
      wait(shedder, 1, post('b'));
    }
    expect(shedder.refuses(post('b'))).toBe(true);
  });

  it('leaves every other account one waiting call while most capacity is closed', () => {
    const { shedder } = crowded();
    expect(shedder.refuses(post('a'))).toBe(true);
    for (const other of ['b', 'c', 'd']) {
      expect(shedder.refuses(post(other))).toBe(false);
      wait(shedder, 1, post(other));
      expect(shedder.refuses(post(other))).toBe(true);
    }
  });

  it('does not reduce the share of an account whose calls wait for their hold, while most capacity is closed', () => {
    const { shedder, state } = setUp(4 * MAX);
    wait(shedder, 4 * MAX, post('a'));
    shedder.refuses(post('a'));
    state.ms += 1_000;
    expect(shedder.refuses(post('a'))).toBe(true);
    state.holds.set('b', 2 * MAX - 1);
    expect(shedder.refuses(post('b'))).toBe(false);
    state.holds.set('b', 2 * MAX);
    expect(shedder.refuses(post('b'))).toBe(true);
  });

  it('has no share when there are more accounts than capacity', () => {
    const { shedder, state } = setUp();
    for (let account = 0; account < MAX; account += 1) wait(shedder, 1, post(`account ${account}`));
    shedder.refuses(post('a'));
    state.ms += 1_000;
    expect(shedder.refuses(post('a'))).toBe(true);
  });
});

describe('shares in a crowd', () => {
  /** The holders of requests that wait, and which of them begin before the crowd has lasted. */
  const crowds = fc.array(
    fc.record({ holder: fc.constantFrom('a', 'b', 'c', 'd', 'e'), begins: fc.boolean() }),
    { maxLength: 60 },
  );

  it('are equal parts of the open places, for any holders that wait', () => {
    fc.assert(
      fc.property(crowds, (crowd) => {
        const maxWaiting = 16;
        const { shedder, state } = setUp(maxWaiting);
        const begins = crowd.map(({ holder }) => shedder.counted(post(holder), () => undefined));
        shedder.refuses(post('a'));
        crowd.forEach((request, index) => {
          if (request.begins) begins[index]?.();
        });
        state.ms += 1_000;
        const left = crowd.filter(({ begins: hasBegun }) => !hasBegun).map(({ holder }) => holder);
        const hasLasted = crowd.length >= maxWaiting && left.length >= maxWaiting;
        const openPlaces = maxWaiting / 4;
        for (const holder of ['a', 'e', 'other']) {
          const holders = new Set([...left, holder]).size;
          const share = Math.max(Math.floor(openPlaces / holders), 1);
          const waits = left.filter((another) => another === holder).length;
          expect(shedder.refuses(post(holder))).toBe(hasLasted && waits >= share);
        }
      }),
    );
  });
});

describe('lanes', () => {
  it.each([
    ['calls', post('a'), read('a')],
    ['reads', read('a'), post('a')],
  ] as const)('a crowd of %s refuses nothing else', (_lane, crowd, other) => {
    const { shedder } = crowded(crowd);
    expect(shedder.refuses(crowd)).toBe(true);
    expect(shedder.refuses(other)).toBe(false);
  });
});

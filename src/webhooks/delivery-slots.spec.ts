import { describe, expect, it } from '@jest/globals';
import { DeliverySlots } from './delivery-slots.js';

const one = { origin: 'https://one.example', accountId: 'a' };
const other = { origin: 'https://other.example', accountId: 'a' };
const HUNG = { statusCode: null, error: 'timeout', durationMs: 10_000 };
const LATE = { statusCode: 200, error: null, durationMs: 5_000 };
const QUICK = { statusCode: 500, error: null, durationMs: 30 };
const UNREACHABLE = { statusCode: null, error: 'connection_failed', durationMs: 1 };

describe('DeliverySlots', () => {
  it('has room for four attempts of an origin', () => {
    const slots = new DeliverySlots();
    expect(slots.rooms()).toMatchObject({ perOrigin: 4, origins: new Map() });
    for (let taken = 1; taken <= 4; taken++) {
      slots.take(one);
      expect(slots.rooms().origins.get(one.origin)).toBe(4 - taken);
    }
    expect(slots.rooms().origins.has(other.origin)).toBe(false);
    expect(slots.rooms().accounts.get('a')).toBe(252);
    expect(slots.inFlight).toBe(4);
  });

  it('tells whether the place that became free may have been waited for', () => {
    const slots = new DeliverySlots();
    for (let taken = 0; taken < 4; taken++) slots.take(one);
    expect(slots.giveBack(one, LATE)).toBe(true);
    expect(slots.giveBack(one, LATE)).toBe(false);
  });

  it('leaves an origin that let an attempt run into the deadline one place, until it answers in time again', () => {
    const slots = new DeliverySlots();
    slots.take(one);
    slots.take(one);
    slots.giveBack(one, HUNG);
    expect(slots.rooms().origins.get(one.origin)).toBe(0);
    slots.giveBack(one, HUNG);
    expect(slots.rooms().origins.get(one.origin)).toBe(1);
    slots.take(one);
    expect(slots.rooms().origins.get(one.origin)).toBe(0);
    expect(slots.giveBack(one, LATE)).toBe(true);
    expect(slots.rooms().origins.has(one.origin)).toBe(false);
  });

  it('gives an origin one place more for each quick answer, up to 32, and four again after one that is not', () => {
    const slots = new DeliverySlots();
    const answered = (pace: typeof HUNG | typeof QUICK, times = 1): number => {
      for (let turn = 0; turn < times; turn++) {
        slots.take(one);
        slots.giveBack(one, pace);
      }
      return slots.rooms().origins.get(one.origin) ?? 4;
    };
    expect(answered(QUICK)).toBe(5);
    expect(answered(QUICK, 10)).toBe(15);
    expect(answered(QUICK, 100)).toBe(32);
    expect(answered(LATE)).toBe(4);
    expect(answered(QUICK, 2)).toBe(6);
    expect(answered(UNREACHABLE)).toBe(4);
    expect(answered(QUICK, 2)).toBe(6);
    expect(answered(HUNG)).toBe(1);
    expect(answered(QUICK)).toBe(4);
  });

  it('lets one account take a quarter of the places, and all accounts 1,024', () => {
    const slots = new DeliverySlots();
    const takeAll = (accountId: string): void => {
      for (let n = 0; n < 256; n++) slots.take({ origin: `${accountId}${n}`, accountId });
    };
    takeAll('a');
    expect(slots.rooms()).toMatchObject({ total: 256, accounts: new Map([['a', 0]]) });
    takeAll('b');
    takeAll('c');
    expect(slots.rooms().total).toBe(128);
    takeAll('d');
    expect(slots.rooms().total).toBe(0);
    expect(slots.giveBack({ origin: 'b7', accountId: 'b' }, LATE)).toBe(true);
    expect(slots.rooms().total).toBe(1);
  });

  it.each([4, 8])('leaves places to one more account while the receivers of %i hang', (hanging) => {
    const slots = new DeliverySlots();
    for (let claim = 0; claim < 50; claim++) {
      const { total, perAccount, accounts } = slots.rooms();
      let claimed = 0;
      for (let n = 0; n < hanging; n++) {
        const accountId = `account ${n}`;
        for (
          let room = accounts.get(accountId) ?? perAccount;
          room > 0 && claimed < total;
          room--
        ) {
          slots.take({ origin: `${accountId} ${claim} ${claimed}`, accountId });
          claimed += 1;
        }
      }
    }
    expect(slots.inFlight).toBeGreaterThan(700);
    const { total, perAccount } = slots.rooms();
    expect(Math.min(total, perAccount)).toBeGreaterThanOrEqual(4);
  });
});

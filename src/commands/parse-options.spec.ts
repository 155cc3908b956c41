import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import { amountOf, timeOf, timesOf, usageDaysOf } from './parse-options.js';

const DAY = '2026-11-25';
const NEXT_DAY = '2026-11-26';
const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

function refusalOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
  }
  return 'none';
}

describe('days of the command line', () => {
  it('include the last one, in lists and in usage', () => {
    expect(timesOf({ from: DAY, to: DAY })).toEqual({
      created_after: startOf(DAY),
      created_before: startOf(NEXT_DAY),
    });
    expect(usageDaysOf({ from: DAY, to: DAY })).toEqual({ from: DAY, to: NEXT_DAY });
    expect(usageDaysOf({ to: '2026-11-30' })).toEqual({ to: '2026-12-01' });
    expect(usageDaysOf({ from: '1800000000', to: '1800000001' })).toEqual({
      from: '1800000000',
      to: '1800000001',
    });
    expect([timesOf({}), usageDaysOf({})]).toEqual([{}, {}]);
  });

  it('are refused where no day lies between them, and where they are none', () => {
    for (const read of [timesOf, usageDaysOf]) {
      expect(refusalOf(() => read({ from: NEXT_DAY, to: DAY }))).toMatch(/no day lies between/);
    }
    expect(refusalOf(() => timesOf({ from: '2026-02-30' }))).toMatch(/--from must be a day/);
    expect(refusalOf(() => timesOf({ to: 'soon' }))).toMatch(/--to must be a day/);
    expect(refusalOf(() => timesOf({ from: DAY, 'created-after': '5' }))).toMatch(/not both/);
  });
});

describe('a time of the command line', () => {
  it.each([
    ['1800000000', 1_800_000_000],
    [DAY, startOf(DAY)],
    ['2026-11-25T08:30Z', startOf(DAY) + 8.5 * 3600],
    ['2026-11-25T08:30:15+01:00', startOf(DAY) + 7.5 * 3600 + 15],
  ])('may be %s', (text, seconds) => {
    expect(timeOf({ 'expires-at': text }, 'expires-at')).toBe(seconds);
    expect(timesOf({ 'created-before': text })).toEqual({ created_before: seconds });
  });

  it.each(['soon', '2026-11-25T08:30', '2026-13-01', '-5'])('is not %s', (text) => {
    expect(refusalOf(() => timeOf({ 'expires-at': text }, 'expires-at'))).toMatch(/--expires-at/);
  });
});

describe('an amount of the command line', () => {
  it('is in micro-USD or in USD, not in both', () => {
    expect(amountOf({ charge: '5' }, 'charge', 'charge-usd')).toBe('5');
    expect(amountOf({ 'charge-usd': '5.00' }, 'charge', 'charge-usd')).toBe('5000000');
    expect(amountOf({}, 'charge', 'charge-usd')).toBeUndefined();
    const both = { charge: '5', 'charge-usd': '5' };
    expect(refusalOf(() => amountOf(both, 'charge', 'charge-usd'))).toMatch(/not both/);
    const wrong = { 'charge-usd': '5,00' };
    expect(refusalOf(() => amountOf(wrong, 'charge', 'charge-usd'))).toMatch(/such as 5\.00/);
  });
});

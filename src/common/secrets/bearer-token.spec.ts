import { createRequire } from 'node:module';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BearerToken } from './bearer-token.js';

const TOKEN = 'an-operator-token-0123456789';
const crypto = createRequire(import.meta.url)('node:crypto') as {
  timingSafeEqual: (one: Buffer, other: Buffer) => boolean;
};
const { timingSafeEqual } = crypto;

/** Lengths of what was compared, each in constant time. */
let compared: (readonly [number, number])[];
let token: BearerToken;

beforeAll(async () => {
  // Before the class is loaded, which then takes this function for Node's own.
  crypto.timingSafeEqual = (one, other) => {
    compared.push([one.length, other.length]);
    return timingSafeEqual(one, other);
  };
  const loaded = await import('./bearer-token.js');
  token = new loaded.BearerToken(TOKEN);
});
beforeEach(() => {
  compared = [];
});
afterAll(() => {
  crypto.timingSafeEqual = timingSafeEqual;
});

describe('BearerToken', () => {
  it.each([
    ['the token', `Bearer ${TOKEN}`, true],
    ['the token after another spelling of the scheme', `bearer ${TOKEN}`, true],
    ['another token of its length', `Bearer ${TOKEN.replace('0', '1')}`, false],
    ['a part of the token', `Bearer ${TOKEN.slice(0, -1)}`, false],
    ['the token and more', `Bearer ${TOKEN}x`, false],
    ['one letter', 'Bearer x', false],
    ['another scheme', `Basic ${TOKEN}`, false],
    ['no header', undefined, false],
  ])('judges %s by one comparison of equal length in constant time', (_what, header, isRight) => {
    expect(token.isIn(header)).toBe(isRight);
    expect(compared).toEqual([[32, 32]]);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  oracleOf,
  plainPrice,
  plainTiers,
  namedLines,
  ruleOf,
} from '../../test/support/token-prices.js';
import { pricesFor } from './token-price.js';

describe('a price of tokens', () => {
  it('is that of the highest tier below the prompt; what a tier lacks keeps its base price, what nobody names costs as its parent', () => {
    fc.assert(
      fc.property(plainPrice, plainTiers, fc.nat(4_000), (price, tiers, prompt) => {
        const wanted = oracleOf(price, tiers, prompt);
        expect(pricesFor(ruleOf(price, tiers), prompt)).toEqual(namedLines(wanted));
      }),
    );
  });

  it('holds strictly above its number of tokens', () => {
    const rule = ruleOf({ input: 1, output: 5 }, [{ above: 200_000, input: 2, output: 7 }]);
    expect(pricesFor(rule, 200_000)).toMatchObject(namedLines({ input: 1, output: 5 }));
    expect(pricesFor(rule, 200_001)).toMatchObject(namedLines({ input: 2, output: 7 }));
  });
});

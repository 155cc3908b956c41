import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PerToken } from '../catalog/token-price.js';
import { TokenCeiling } from './token-ceiling.js';

const prices = fc.record({
  unit: fc.constant('token' as const),
  inputMicroUsdPerMillion: fc.bigInt(0n, 100_000_000n),
  outputMicroUsdPerMillion: fc.bigInt(0n, 100_000_000n),
});
const promptTokens = fc.integer({ min: 0, max: 25_000_000 });
const most = fc.integer({ min: 1, max: 1_000_000 });

/** In whole micro-USD, rounded up. */
function costOf(price: PerToken, prompt: bigint, output: bigint): bigint {
  const scaled = prompt * price.inputMicroUsdPerMillion + output * price.outputMicroUsdPerMillion;
  return scaled / 1_000_000n + (scaled % 1_000_000n === 0n ? 0n : 1n);
}

describe('the ceiling of a chat call', () => {
  it('is what prompt and cap cost at their prices', () => {
    fc.assert(
      fc.property(prices, promptTokens, most, (price, prompt, cap) => {
        const expected = costOf(price, BigInt(prompt), BigInt(cap));
        expect(TokenCeiling.of(price, prompt).amountFor(cap)).toBe(expected);
      }),
    );
  });

  it('buys the largest cap that an amount covers: one token more would cost more', () => {
    const amounts = fc.bigInt(0n, 10_000_000n);
    fc.assert(
      fc.property(prices, promptTokens, most, amounts, (price, prompt, limit, amount) => {
        const ceiling = TokenCeiling.of(price, prompt);
        const cap = ceiling.tokensFor(amount, limit);
        if (cap < 0) expect(ceiling.amountFor(0) > amount).toBe(true);
        else expect(ceiling.amountFor(cap) <= amount).toBe(true);
        if (cap >= 0 && cap < limit) expect(ceiling.amountFor(cap + 1) > amount).toBe(true);
        expect(cap).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it('never lets a charge exceed the amount that bought the cap', () => {
    const shares = fc.record({ prompt: fc.nat(1_000), output: fc.nat(1_000) });
    const amounts = fc.bigInt(0n, 10_000_000n);
    fc.assert(
      fc.property(
        prices,
        promptTokens,
        most,
        amounts,
        shares,
        (price, prompt, limit, amount, of) => {
          const cap = TokenCeiling.of(price, prompt).tokensFor(amount, limit);
          fc.pre(cap >= 0);
          const used = (tokens: number, permille: number) =>
            BigInt(Math.floor((tokens * permille) / 1_000));
          const charge = costOf(price, used(prompt, of.prompt), used(cap, of.output));
          expect(charge <= amount).toBe(true);
        },
      ),
    );
  });

  it('buys 12,500 tokens at 10 USD per million with an eighth of 1 USD beside the prompt', () => {
    const price = {
      unit: 'token',
      inputMicroUsdPerMillion: 1_250_000n,
      outputMicroUsdPerMillion: 10_000_000n,
    } as const;
    const ceiling = TokenCeiling.of(price, 37);
    expect(ceiling.amountFor(0)).toBe(47n);
    expect(ceiling.tokensFor(125_047n, 128_000)).toBe(12_500);
  });
});

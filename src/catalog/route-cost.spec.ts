import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type MadeUnits, routeCostOf } from './route-cost.js';
import type { PriceRule } from './price-rule.js';

const costOf = (cost: PriceRule | undefined, made: MadeUnits, constants = {}) =>
  routeCostOf({ cost, terms: { constants } }, made);

describe('the cost of a route', () => {
  it.each<[string, PriceRule, MadeUnits, bigint | undefined]>([
    ['code points', { unit: 'code_point', microUsd: 66n }, { quantity: 5 }, 330n],
    ['measured seconds', { unit: 'measured_second', microUsd: 61n }, { quantity: 7 }, 427n],
    ['requested seconds', { unit: 'requested_second', microUsd: 20n }, { quantity: 3 }, 60n],
    ['a request', { unit: 'request', microUsd: 40n }, { quantity: 1 }, 40n],
    [
      'a request in Max mode',
      { unit: 'request', microUsd: 40n, maxModeMicroUsd: 70n },
      { quantity: 1, choice: { maxMode: true } },
      70n,
    ],
    [
      'a request in Max mode without such a cost',
      { unit: 'request', microUsd: 40n },
      { quantity: 1, choice: { maxMode: true } },
      undefined,
    ],
    [
      'an image by its size',
      {
        unit: 'request',
        microUsd: 9n,
        byQualitySize: [{ quality: 'high', size: 'a', microUsd: 30n }],
      },
      { quantity: 1, choice: { size: 'a' } },
      30n,
    ],
    [
      'a video by its length',
      { unit: 'video', microUsdBySeconds: { '5': 100n, '10': 200n } },
      { quantity: 1, choice: { seconds: '10' } },
      200n,
    ],
    [
      'a video by its resolution and sound',
      {
        unit: 'video',
        microUsdBySeconds: { '5': 100n },
        perSecond: [{ resolution: '720p', sound: true, microUsdPerSecond: 7n }],
      },
      { quantity: 5, choice: { seconds: '5', resolution: '720p', sound: true } },
      35n,
    ],
    [
      'a video of a length without a cost',
      { unit: 'video', microUsdBySeconds: { '5': 100n } },
      { quantity: 1, choice: { seconds: '10' } },
      undefined,
    ],
  ])('is that of %s', (_what, rule, made, cost) => {
    expect(costOf(rule, made, { quality: 'high' })).toBe(cost);
  });

  it('is not known without a rule, and never above what an account may hold', () => {
    expect(costOf(undefined, { quantity: 5 })).toBeUndefined();
    const rule = { unit: 'code_point', microUsd: 10n ** 15n } as const;
    expect(costOf(rule, { quantity: 1 })).toBe(10n ** 15n);
    expect(costOf(rule, { quantity: 2 })).toBeUndefined();
  });

  it('of tokens is the sum of its lines in the tier of the prompt, rounded up once', () => {
    const amount = fc.bigInt(0n, 10n ** 9n);
    const count = fc.nat(500_000);
    fc.assert(
      fc.property(amount, amount, amount, count, count, count, (input, cached, output, a, b, c) => {
        const rule = {
          unit: 'token',
          inputMicroUsdPerMillion: input,
          cachedInputMicroUsdPerMillion: cached,
          outputMicroUsdPerMillion: output,
          tiers: [{ aboveInputTokens: 200_000, outputMicroUsdPerMillion: 2n * output }],
        } as const;
        const quantity = {
          promptTokens: a + b,
          cachedTokens: b,
          completionTokens: c,
          reasoningTokens: null,
        };
        const times = a + b > 200_000 ? 2n : 1n;
        const exact = BigInt(a) * input + BigInt(b) * cached + BigInt(c) * output * times;
        const cost = costOf(rule, { quantity }) ?? -1n;
        expect(cost * 1_000_000n >= exact && (cost - 1n) * 1_000_000n < exact).toBe(true);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { oracleOf, plainPrice, plainTiers, ruleOf } from '../../test/support/token-prices.js';
import { chargeOf } from './text-quote.js';
import { TokenCeiling } from './token-ceiling.js';
import { CHAT_MODELS } from '../catalog/models/chat.models.js';

const MUCH = 10n ** 15n;
const [listed] = CHAT_MODELS;
const split = fc.array(fc.nat(1_000), { minLength: 5, maxLength: 5 });
const factor = fc.integer({ min: 1, max: 10_000 });

describe('a chat of many lines and tiers', () => {
  it('is charged the sum of its lines times the factor, rounded up once; its ceiling covers that for any parts within its bounds (G-23, G-30)', () => {
    fc.assert(
      fc.property(
        plainPrice,
        plainTiers,
        split,
        fc.tuple(fc.nat(500), fc.nat(500), fc.nat(500)),
        factor,
        (price, tiers, counts, [spare, output, unused], factorPermille) => {
          const prompt = counts.reduce((sum, count) => sum + count, 0);
          const lines = oracleOf(price, tiers, prompt);
          const [rest = 0, cached = 0, write = 0, write1h = 0, image = 0] = counts;
          const exact =
            BigInt(rest) * BigInt(lines.input) +
            BigInt(cached) * BigInt(lines.cached) +
            BigInt(write) * BigInt(lines.write) +
            BigInt(write1h) * BigInt(lines.write1h) +
            BigInt(image) * BigInt(lines.image) +
            BigInt(output) * BigInt(lines.output);
          const scaled = exact * BigInt(factorPermille);
          const due = scaled / 10n ** 9n + (scaled % 10n ** 9n === 0n ? 0n : 1n);
          const rule = { ...ruleOf(price, tiers), factorPermille: BigInt(factorPermille) };
          const usage = {
            promptTokens: prompt,
            cachedTokens: cached,
            cacheWriteTokens: write,
            cacheWrite1hTokens: write1h,
            imageTokens: image,
            completionTokens: output,
            reasoningTokens: null,
          };
          const row = { ...listed, price: rule };
          expect(chargeOf(row, usage, MUCH)).toEqual({ chargedMicroUsd: due, isCapped: false });
          const ceiling = TokenCeiling.of(rule, prompt + spare).amountFor(output + unused);
          expect(ceiling >= due).toBe(true);
          const capped = chargeOf(row, usage, due / 2n);
          expect(capped).toEqual({ chargedMicroUsd: due / 2n, isCapped: due > 0n });
        },
      ),
    );
  });

  it('cuts the parts of its prompt at the whole', () => {
    const row = { ...listed, price: { ...listed.price, imageInputMicroUsdPerMillion: 9_000_000n } };
    const usage = {
      promptTokens: 1_000,
      cachedTokens: 900,
      cacheWriteTokens: 70,
      cacheWrite1hTokens: 60,
      imageTokens: 5_000,
      completionTokens: 0,
      reasoningTokens: null,
    };
    // 900 cached at 0.125; the other 100 are all written: 60 for an hour, 40 for 5 minutes, both at the price of input.
    expect(chargeOf(row, usage, MUCH).chargedMicroUsd).toBe(238n);
  });
});

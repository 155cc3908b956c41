import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { amountTextOf, linesOf, sumOf } from './price-lines.js';

const digits = fc.nat(50_000_000).map(String);
const count = fc.nat(2_000_000);

describe('the lines of a charge', () => {
  it('are one line for everything that is not sold by token', () => {
    const lines = linesOf({ unit: 'code_point', quantity: 5, unitPrice: '120' });
    expect(lines).toEqual([{ unit: 'code_point', quantity: 5, unitPriceMicroUsd: 120n, per: 1 }]);
    expect(lines.map(amountTextOf)).toEqual(['600']);
    expect(sumOf(lines)).toBe(600n);
  });

  it('have exact amounts, and their sum is rounded up once', () => {
    const lines = linesOf({
      unit: 'token',
      quantity: { promptTokens: 4, cachedTokens: 1, completionTokens: 1, reasoningTokens: 1 },
      unitPrice: {
        inputPerMillion: '100000',
        cachedInputPerMillion: '12345',
        outputPerMillion: '400000',
      },
    });
    expect(lines.map((line) => [line.unit, line.quantity, amountTextOf(line)])).toEqual([
      ['input', 3, '0.3'],
      ['cached_input', 1, '0.012345'],
      ['output', 1, '0.4'],
    ]);
    expect(sumOf(lines)).toBe(1n);
  });

  it('of a record from before the parts were kept are those of its prompt and its completion', () => {
    const lines = linesOf({
      unit: 'token',
      quantity: { promptTokens: 100, cachedTokens: 90, completionTokens: 2, reasoningTokens: null },
      unitPrice: { inputPerMillion: '1000000', outputPerMillion: '2000000' },
    });
    expect(lines.map(({ unit }) => unit)).toEqual(['input', 'cached_input', 'output']);
    expect(sumOf(lines)).toBe(104n);
  });

  it('of no tokens at all are one line of nothing', () => {
    const lines = linesOf({
      unit: 'token',
      quantity: { promptTokens: 0, cachedTokens: null, completionTokens: 0, reasoningTokens: null },
      unitPrice: { inputPerMillion: '5', outputPerMillion: '6' },
    });
    expect(lines.map((line) => [line.unit, amountTextOf(line)])).toEqual([['input', '0']]);
  });

  it('add up to the whole prompt and the exact price, for any parts', () => {
    const parts = fc.tuple(count, count, count, count, count);
    const prices = fc.tuple(digits, digits, digits, digits, digits, digits);
    fc.assert(
      fc.property(
        parts,
        count,
        prices,
        ([rest, cached, write, write1h, image], output, amounts) => {
          const [input, ofCached, ofWrite, ofWrite1h, ofImage, ofOutput] = amounts;
          const lines = linesOf({
            unit: 'token',
            quantity: {
              promptTokens: rest + cached + write + write1h + image,
              cachedTokens: cached,
              cacheWriteTokens: write,
              cacheWrite1hTokens: write1h,
              imageTokens: image,
              completionTokens: output,
              reasoningTokens: null,
            },
            unitPrice: {
              inputPerMillion: input,
              cachedInputPerMillion: ofCached,
              cacheWritePerMillion: ofWrite,
              cacheWrite1hPerMillion: ofWrite1h,
              imageInputPerMillion: ofImage,
              outputPerMillion: ofOutput,
            },
          });
          const pairs: [number, string][] = [
            [rest, input],
            [cached, ofCached],
            [write, ofWrite],
            [write1h, ofWrite1h],
            [image, ofImage],
            [output, ofOutput],
          ];
          const exact = pairs.reduce(
            (sum, [tokens, price]) => sum + BigInt(tokens) * BigInt(price),
            0n,
          );
          const sum = sumOf(lines);
          expect(sum * 1_000_000n >= exact && sum * 1_000_000n - exact < 1_000_000n).toBe(true);
          const shown = lines.reduce((all, line) => {
            const [whole = '', fraction = ''] = amountTextOf(line).split('.');
            expect(fraction.length).toBeLessThanOrEqual(12);
            return all + BigInt(whole + fraction.padEnd(6, '0'));
          }, 0n);
          expect(shown).toBe(exact);
        },
      ),
    );
  });
});

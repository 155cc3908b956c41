import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { linesOf, sumOf } from '../../common/money/price-lines.js';
import { BUILT_IN_MODELS } from '../models/built-in.models.js';
import type { ModelRow } from '../model-row.js';
import { quoteOfRequest, quoteOfSeconds, quoteOfText, quoteOfVideo } from '../price-rule.js';
import { bookedRow, type PriceBookVersion, versionAt } from './price-book.js';

const rowOf = (id: string): ModelRow => {
  const row = BUILT_IN_MODELS.find((each) => each.id === id);
  if (!row) throw new Error(`no model ${id}`);
  return row;
};

const bookOf = (fields: Partial<PriceBookVersion>): PriceBookVersion => ({
  bookId: 'partners',
  version: 1,
  factorPermille: 1_000,
  models: [],
  validFrom: new Date(0),
  createdAt: new Date(0),
  ...fields,
});

/** The listed amount times the factor, rounded up, in plain integers. */
function oracle(numerator: bigint, denominator: bigint, factor: number): bigint {
  const whole = numerator * BigInt(factor);
  const parts = denominator * 1_000n;
  return whole % parts === 0n ? whole / parts : whole / parts + 1n;
}

const factors = fc.integer({ min: 1, max: 10_000 });
const counts = fc.integer({ min: 1, max: 200_000 });

describe('a price book', () => {
  it('takes its factor of the whole amount, and rounds up once (G-30)', () => {
    fc.assert(
      fc.property(factors, counts, counts, (factorPermille, count, other) => {
        const book = bookOf({ factorPermille });
        const price = <Unit extends ModelRow['price']['unit']>(id: string, unit: Unit) => {
          const { price: rule } = bookedRow(rowOf(id), book);
          if (rule.unit !== unit) throw new Error(`${id} is priced by ${rule.unit}`);
          return rule as Extract<ModelRow['price'], { readonly unit: Unit }>;
        };
        const is = (numerator: number, denominator = 1) =>
          oracle(BigInt(numerator), BigInt(denominator), factorPermille);
        expect(quoteOfText(price('aud-v4', 'code_point'), count)).toMatchObject({
          amountMicroUsd: is(count * 120),
          basis: { unitPrice: '120', quantity: count },
        });
        const seconds = price('aud-transcribe-v2', 'measured_second');
        expect(quoteOfSeconds(seconds, BigInt(count)).amountMicroUsd).toBe(is(count * 92));
        const ofTokens = linesOf({
          unit: 'token',
          quantity: {
            promptTokens: count,
            cachedTokens: null,
            completionTokens: other,
            reasoningTokens: null,
          },
          unitPrice: { inputPerMillion: '1250000', outputPerMillion: '10000000' },
        });
        expect(sumOf(ofTokens, price('gen-5', 'token').factorPermille)).toBe(
          is(count * 1_250_000 + other * 10_000_000, 1_000_000),
        );
        const image = price('gen-image-2', 'request');
        expect(quoteOfRequest(image)).toMatchObject({
          amountMicroUsd: is(10_000),
          basis: { unitPrice: '10000' },
        });
        expect(quoteOfVideo({ price: price('vid-omni', 'video') }, '10')).toMatchObject({
          amountMicroUsd: is(500_000),
          basis: { unitPrice: '500000' },
        });
      }),
    );
  });

  it('names itself on the row, and leaves everything but the price as it is', () => {
    const row = rowOf('gen-5');
    const { price, priceBook, ...others } = bookedRow(row, bookOf({ factorPermille: 900 }));
    const { price: listed, ...listedOthers } = row;
    expect(others).toEqual(listedOthers);
    expect(price).toEqual({ ...listed, factorPermille: 900n });
    expect(priceBook).toEqual({ id: 'partners', version: 1, factorPermille: 900 });
  });

  it('sells a model with a price of its own at that price, whatever the factor', () => {
    const models = [{ id: 'aud-v4', price: { unit: 'code_point' as const, micro_usd: 7 } }];
    const { price, priceBook } = bookedRow(
      rowOf('aud-v4'),
      bookOf({ factorPermille: 900, models }),
    );
    expect(price).toEqual({ unit: 'code_point', microUsd: 7n });
    expect(priceBook?.factorPermille).toBe(1_000);
  });

  it('refuses a price in another unit than that of the model', () => {
    const models = [{ id: 'aud-v4', price: { unit: 'request' as const, micro_usd: 7 } }];
    expect(() => bookedRow(rowOf('aud-v4'), bookOf({ models }))).toThrow('price.unit');
  });

  it('is in force from the time of each version on, the later one of two that begin together', () => {
    const versions = [
      bookOf({ version: 1, validFrom: new Date(1_000) }),
      bookOf({ version: 2, validFrom: new Date(5_000) }),
      bookOf({ version: 3, validFrom: new Date(2_000) }),
      bookOf({ version: 4, validFrom: new Date(2_000) }),
    ];
    const at = (ms: number) => versionAt(versions, ms)?.version;
    expect([999, 1_000, 1_999, 2_000, 4_999, 5_000].map(at)).toEqual([undefined, 1, 1, 4, 4, 2]);
  });
});

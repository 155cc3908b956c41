import { describe, expect, it } from '@jest/globals';
import type { ChargeBasis } from '../../common/money/charge-basis.js';
import type { ModelRow } from '../model-row.js';
import { BUILT_IN_MODELS } from '../models/built-in.models.js';
import type { PriceRule } from '../price-rule.js';
import { repriced } from './repriced-charge.js';

const row = BUILT_IN_MODELS.find(({ id }) => id === 'aud-music-v2.5')!;
const rowOf = (price: PriceRule) => ({ ...row, price }) as ModelRow;
const SONG = rowOf({ unit: 'request', microUsd: 200_000n });
const SECOND = rowOf({ unit: 'requested_second', microUsd: 2_000n });

/** A charge of the listed price, by the row of a book. */
function newCharge(unit: ChargeBasis['unit'], quantity: number, price: bigint, booked = SONG) {
  const basis = { unit, quantity, unitPrice: price.toString(), isEstimated: false };
  const chargedMicroUsd = BigInt(quantity) * price;
  const charge = { basis, factorPermille: 1_000n, hadOwnPrice: false, chargedMicroUsd };
  return repriced(charge, row, booked);
}

describe('a charge of an id whose unit changed', () => {
  it('keeps its price, whether it was by the second or by the song', () => {
    expect(newCharge('second', 60, 1_000n)).toBe(60_000n);
    expect(newCharge('request', 1, 90_000n, SECOND)).toBe(90_000n);
  });

  it('has the price of the book where the unit is the same', () => {
    expect(newCharge('second', 60, 1_000n, SECOND)).toBe(120_000n);
    expect(newCharge('request', 1, 90_000n)).toBe(200_000n);
    expect(newCharge('image', 2, 90_000n)).toBe(400_000n);
  });
});

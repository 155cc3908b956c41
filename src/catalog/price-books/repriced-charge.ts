import type { ChargeBasis } from '../../common/money/charge-basis.js';
import { ceilDiv, type MicroUsd } from '../../common/money/micro-usd.js';
import { linesOf, type PriceLine, sumOf } from '../../common/money/price-lines.js';
import type { ModelRow } from '../model-row.js';
import { factorOf } from '../price-factor.js';
import type { PriceRule } from '../price-rule.js';
import { tokenLinesOf } from '../token-price.js';

/** A charge of the past: what was made, and at what price. */
export interface PastCharge {
  readonly basis: ChargeBasis;
  /** Of the price book by which it was charged. */
  readonly factorPermille: bigint;
  /** Whether that book had a price of its own for the model. */
  readonly hadOwnPrice: boolean;
  readonly chargedMicroUsd: MicroUsd;
}

/**
 * What a charge would have been by the row of a price book. `listed` is the row of the list, by which it is known which of
 * several prices of a model was charged. A charge in another unit than the row's keeps its price. A charge that was cut at its hold, or estimated, changes in proportion.
 */
export function repriced(charge: PastCharge, listed: ModelRow, booked: ModelRow): MicroUsd {
  const { basis, chargedMicroUsd } = charge;
  const due = sumOf(linesOf(basis), charge.factorPermille);
  const isPricedAnew = charge.hadOwnPrice || isOwn(listed, booked);
  const lines = isPricedAnew ? ownLines(basis, listed.price, booked.price) : linesOf(basis);
  const newDue = sumOf(lines, factorOf(booked.price));
  return due === chargedMicroUsd || due === 0n ? newDue : ceilDiv(chargedMicroUsd * newDue, due);
}

/** The units that charges by a rule may have. */
const UNITS: Readonly<Record<PriceRule['unit'], readonly ChargeBasis['unit'][]>> = {
  token: ['token'],
  video: ['request', 'second'],
  request: ['request', 'image'],
  code_point: ['code_point'],
  measured_second: ['second'],
  requested_second: ['second'],
};

/** Whether the book has a price of its own for the model: else the factor stands on the price of the time. */
function isOwn(listed: ModelRow, booked: ModelRow): boolean {
  return booked !== listed && booked.price.factorPermille === undefined;
}

function ownLines(basis: ChargeBasis, listed: PriceRule, own: PriceRule): readonly PriceLine[] {
  const { quantity, unitPrice } = basis;
  // The unit of the id was another one: its quantity is none of the price's.
  if (!UNITS[own.unit].includes(basis.unit)) return linesOf(basis);
  if (typeof quantity === 'object' && own.unit === 'token') return tokenLinesOf(own, quantity);
  if (typeof unitPrice !== 'string') return linesOf(basis);
  const price = ownUnitPrice({ unit: basis.unit, charged: BigInt(unitPrice) }, listed, own);
  return linesOf({ ...basis, unitPrice: price.toString() });
}

/** The price of the book in the place where the list has the price that was charged; its first one if it is nowhere. */
function ownUnitPrice(
  { unit, charged }: { readonly unit: ChargeBasis['unit']; readonly charged: MicroUsd },
  listed: PriceRule,
  own: PriceRule,
): MicroUsd {
  const [before, after] = [amountsOf(listed, unit), amountsOf(own, unit)];
  const place = [...before].find(([, amount]) => amount === charged)?.[0];
  const [first = charged] = after.values();
  return (place === undefined ? undefined : after.get(place)) ?? first;
}

/** Every price of a rule that is not of tokens, by its place: of a video those of the unit that was charged. */
function amountsOf(rule: PriceRule, unit: ChargeBasis['unit']): ReadonlyMap<string, MicroUsd> {
  switch (rule.unit) {
    case 'token':
      return new Map();
    case 'video':
      if (unit !== 'second') return new Map(Object.entries(rule.microUsdBySeconds));
      return new Map(
        rule.perSecond?.map((row) => [`${row.resolution} ${row.sound}`, row.microUsdPerSecond]),
      );
    case 'request':
      return new Map([
        ['flat', rule.microUsd],
        ['max mode', rule.maxModeMicroUsd ?? rule.microUsd],
        ...(rule.byQualitySize ?? []).map(
          (row) => [`${row.quality} ${row.size}`, row.microUsd] as const,
        ),
      ]);
    case 'code_point':
    case 'measured_second':
    case 'requested_second':
      return new Map([['flat', rule.microUsd]]);
  }
}

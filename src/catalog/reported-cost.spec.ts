import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CostFigure, type ReportedCost, reportedCostOf } from './reported-cost.js';

const inUsd = (figure: CostFigure): ReportedCost => ({ figure });
const inUnits = (figure: CostFigure, microUsdPerMillionUnits: bigint): ReportedCost => ({
  figure,
  microUsdPerMillionUnits,
});

describe("a provider's own figure of the cost", () => {
  it.each([
    ['USD', inUsd('usage.cost'), { 'usage.cost': 0.0012 }, 1_200n],
    ['less than a micro-USD', inUsd('usage.cost'), { 'usage.cost': 1e-9 }, 1n],
    ['a cost of nothing', inUsd('usage.cost'), { 'usage.cost': 0 }, 0n],
    [
      'ticks of USD',
      inUsd('usage.cost_in_usd_ticks'),
      { 'usage.cost_in_usd_ticks': 37756000 },
      3_776n,
    ],
    ['characters', inUnits('character-cost', 165_000_000n), { 'character-cost': '120' }, 19_800n],
    [
      'quota in the data of an answer',
      inUnits('quota', 10_000_000_000n),
      { 'data.quota': '6' },
      60_000n,
    ],
    [
      'parts of a unit',
      inUnits('final_unit_deduction', 140_000_000_000n),
      { 'data.final_unit_deduction': '1.5' },
      210_000n,
    ],
    [
      'the steps of a task',
      inUnits('quota', 10_000_000_000n),
      { 'step1.quota': 2, quota: 5, 'data.quota': 6 },
      80_000n,
    ],
  ])('is read as %s', (_what, declared, figures, cost) => {
    expect(reportedCostOf(declared, figures)).toBe(cost);
  });

  it.each([
    ['is negative', { 'usage.cost': -0.1 }],
    ['is no number', { 'usage.cost': '1,5' }],
    ['is above 1e9 USD', { 'usage.cost': 1_000_000_001 }],
    ['has an absurd exponent', { 'usage.cost': '1e9999' }],
    ['is a huge number', { 'usage.cost': 1.7e308 }],
    ['did not come', { quota: 3 }],
    ['is unreadable in one step', { 'step1.usage.cost': 'x', 'usage.cost': 1 }],
  ])('is no cost where it %s', (_what, figures) => {
    expect(reportedCostOf(inUsd('usage.cost'), figures)).toBeUndefined();
  });

  it('is no cost where the provider declares no unit', () => {
    expect(reportedCostOf(undefined, { 'usage.cost': 1 })).toBeUndefined();
    expect(reportedCostOf(inUsd('usage.cost'), null)).toBeUndefined();
  });

  it('is exact, and rounded up once to whole micro-USD', () => {
    const digits = fc.nat(999_999_999);
    fc.assert(
      fc.property(digits, fc.nat(12), fc.bigInt(1n, 10n ** 12n), (units, places, price) => {
        const text = (BigInt(units) + 10n ** BigInt(places)).toString().padStart(places + 1, '0');
        const at = text.length - places;
        const figure = `${text.slice(0, at)}.${text.slice(at)}0`;
        const cost = reportedCostOf(inUnits('quota', price), { quota: figure }) ?? -1n;
        const exact = BigInt(text) * price;
        const scale = 1_000_000n * 10n ** BigInt(places);
        expect(cost * scale >= exact && (cost - 1n) * scale < exact).toBe(true);
      }),
    );
  });
});

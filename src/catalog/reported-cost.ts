import { ceilDiv, MAX_MICRO_USD, type MicroUsd } from '../common/money/micro-usd.js';
import type { ProviderFigures } from '../common/money/charge-basis.js';
import { VENDOR_COST } from '../providers/http/figures.js';

/** The figures of vendors that can be a cost. */
export const COST_FIGURES = [
  'usage.cost',
  'usage.cost_in_usd_ticks',
  'character-cost',
  'quota',
  'final_unit_deduction',
] as const;
/** Beside them the one at the place that a vendor's file names. */
export type CostFigure = (typeof COST_FIGURES)[number] | typeof VENDOR_COST;

/**
 * What a provider's own figure means: USD (`microUsdPerMillionUnits` undefined), or units of which a million cost so much.
 */
export interface ReportedCost {
  readonly figure: CostFigure;
  readonly microUsdPerMillionUnits?: MicroUsd | undefined;
}

const MICRO_USD_PER_USD = 1_000_000n;
const MILLION = 1_000_000n;
/** Of xAI. No answer says it, so operators are told to check it and can name another price (`unit`). */
const TICKS_PER_USD = 10_000_000_000n;
/** A decimal number as JSON writes it; an exponent of four digits is no cost. */
const DECIMAL = /^(\d{1,40})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?$/;
/** The name of a figure, behind the step of a task in which it came, and the object that some vendors put it in. */
const NAME = /^(step\d+\.)?(?:data\.)?(.*)$/s;

/**
 * What the figures say that the work cost, in whole micro-USD, rounded up once; the figures of several steps are added.
 * Undefined where the provider declares none, where it did not come, and where it is negative, no number, or above
 * {@link MAX_MICRO_USD}: then the cost of the route counts.
 */
export function reportedCostOf(
  declared: ReportedCost | undefined,
  figures: ProviderFigures | null | undefined,
): MicroUsd | undefined {
  if (declared === undefined || !figures) return undefined;
  const byStep = new Map<string, number | string>();
  for (const [name, value] of Object.entries(figures)) {
    const [, step = '', figure] = NAME.exec(name) ?? [];
    if (figure === declared.figure) byStep.set(step, value);
  }
  const values = [...byStep.values()].map(decimalOf);
  const places = values.reduce((most, value) => mostOf(most, value?.places ?? 0), 0);
  if (values.length === 0 || !values.every((value) => value !== undefined)) return undefined;
  const sum = values.reduce((all, value) => all + scaled(value, places), 0n);
  const cost = ceilDiv(sum * rateOf(declared).times, rateOf(declared).per * 10n ** BigInt(places));
  return cost <= MAX_MICRO_USD ? cost : undefined;
}

/** Micro-USD for so many of what the figure counts. */
function rateOf({ figure, microUsdPerMillionUnits: perMillion }: ReportedCost) {
  if (perMillion !== undefined) return { times: perMillion, per: MILLION };
  const per = figure === 'usage.cost_in_usd_ticks' ? TICKS_PER_USD : 1n;
  return { times: MICRO_USD_PER_USD, per };
}

/** A number as `digits` divided by 10 to the power of `places`; undefined for a negative one and for other text. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

const mostOf = (a: number, b: number): number => (a > b ? a : b);

const scaled = ({ digits, places }: Decimal, to: number): bigint =>
  digits * 10n ** BigInt(to - places);

function decimalOf(value: number | string): Decimal | undefined {
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(String(value)) ?? [];
  if (whole === undefined) return undefined;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}

import type { ChargeBasis, PriceChoice, TokenCounts } from '../common/money/charge-basis.js';
import { MAX_MICRO_USD, type MicroUsd } from '../common/money/micro-usd.js';
import { sumOf } from '../common/money/price-lines.js';
import type { Route } from '../providers/ports/attempt.js';
import { unitPriceOfImage } from './image-choices.js';
import { type PriceRule, unitsOfVideo } from './price-rule.js';
import type { ReportedCost } from './reported-cost.js';
import { tokenLinesOf } from './token-price.js';

/** A route, and what work on it costs. */
export interface CostedRoute extends Route {
  /** What the provider takes for the work, in the form of a price. */
  readonly cost?: PriceRule | undefined;
  /** How the provider's own figure of the cost is read. It comes before `cost`. */
  readonly reportedCost?: ReportedCost | undefined;
}

/** What a provider made: so many units, and what of the request chooses one of several prices. */
export interface MadeUnits extends Pick<ChargeBasis, 'quantity'> {
  readonly choice?: PriceChoice | undefined;
}

/**
 * What the work costs by its route, in whole micro-USD: the sum of its lines, rounded up once as a charge is, so that work
 * that is sold for its cost has no margin and none below zero. Undefined where the route names no cost for it.
 */
export function routeCostOf(
  { cost: rule, terms }: Pick<CostedRoute, 'cost' | 'terms'>,
  { quantity, choice = {} }: MadeUnits,
): MicroUsd | undefined {
  if (rule === undefined) return undefined;
  const cost =
    typeof quantity === 'object'
      ? costOfTokens(rule, quantity)
      : costOfUnits(rule, BigInt(quantity), choice, terms);
  return cost === undefined || cost > MAX_MICRO_USD ? undefined : cost;
}

function costOfTokens(rule: PriceRule, quantity: TokenCounts): MicroUsd | undefined {
  return rule.unit === 'token' ? sumOf(tokenLinesOf(rule, quantity)) : undefined;
}

function costOfUnits(
  rule: PriceRule,
  units: bigint,
  choice: PriceChoice,
  terms: Route['terms'],
): MicroUsd | undefined {
  const { maxMode = false, seconds } = choice;
  switch (rule.unit) {
    case 'token':
      return undefined;
    case 'request':
      if (maxMode) return rule.maxModeMicroUsd;
      return unitPriceOfImage({ price: rule, terms }, choice) * units;
    case 'video': {
      const made =
        seconds === undefined ? undefined : unitsOfVideo({ price: rule, terms }, seconds, choice);
      return made && made.unitPrice * BigInt(made.quantity);
    }
    case 'code_point':
    case 'measured_second':
    case 'requested_second':
      return rule.microUsd * units;
  }
}

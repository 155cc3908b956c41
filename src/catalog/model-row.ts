import type { Operation } from '../providers/ports/provider-ports.js';
import type { UpstreamTerms } from '../providers/ports/attempt.js';
import type { Limits } from './model-limits.js';
import type { OPERATIONS } from './operations.js';
import type { AppliedPriceBook } from '../common/money/charge-basis.js';
import type { PriceRule } from './price-rule.js';
import type { OwnVoices } from './voices.js';
import type { CostedRoute } from './route-cost.js';

type Rows = typeof OPERATIONS;
type RequiredLimit<O extends Operation> = Rows[O]['limits']['required'][number];
type OptionalLimit<O extends Operation> = Rows[O]['limits']['optional'][number];

type UnitOf<O extends Operation> =
  Rows[O]['unit'] | (Rows[O] extends { readonly otherUnit: infer Other } ? Other : never);

/** The limits of a model, by its operation. */
type LimitsOf<O extends Operation> = [RequiredLimit<O> | OptionalLimit<O>] extends [never]
  ? Readonly<Record<string, never>>
  : Pick<Limits, RequiredLimit<O>> & Partial<Pick<Limits, OptionalLimit<O>>>;

/** How the routes of a model are ordered. */
export const ROUTE_ORDERS = ['listed', 'cheapest'] as const;
export type RouteOrder = (typeof ROUTE_ORDERS)[number];

interface Row<O extends Operation> {
  readonly id: string;
  readonly operation: O;
  /** In order of preference. */
  readonly routes: readonly CostedRoute[];
  readonly price: Extract<PriceRule, { readonly unit: UnitOf<O> }>;
  readonly limits: LimitsOf<O>;
  /** How what is sent for the model differs from its protocol's habit. */
  readonly terms?: UpstreamTerms;
  /** Voices of this model alone; absent = the premade ones. */
  readonly voices?: OwnVoices;
  /** Further names that callers may use; records name the id. */
  readonly aliases?: readonly string[];
  /** The price book by which the price is that of one account; absent = the price of the list. */
  readonly priceBook?: AppliedPriceBook;
  /** Whether callers may order and exclude the routes, by neutral names (`x-gateway-route`). */
  readonly isRoutable?: boolean;
  /** `cheapest`: the routes are tried in the order of their costs; absent = in that of the row, by their weights. */
  readonly routeOrder?: RouteOrder;
  /** A disabled model is in no list, and requests for it find no model. */
  readonly enabled: boolean;
}

/** What only some operations have. */
interface Extras {
  readonly chat: {
    /** Whether the model uses hidden reasoning tokens, which only its usage tells (decision G-24). */
    readonly hiddenReasoning: boolean;
    /** The fewest output tokens that are held for a call without a cap (decision G-106). */
    readonly minOutputTokens: number;
  };
}

type ModelRows = {
  [O in Operation]: Row<O> & (O extends keyof Extras ? Extras[O] : unknown);
};

/** Bounds of the length of a recording. */
export type MediaLimits = LimitsOf<'transcription'>;

/** The row of one operation; without a type argument, any row. */
export type ModelRow<O extends Operation = Operation> = ModelRows[O] & { readonly operation: O };

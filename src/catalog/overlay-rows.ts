import type { Operation } from '../providers/ports/provider-ports.js';
import type { ModelRow } from './model-row.js';
import { MIN_OUTPUT_TOKENS } from './models/chat.models.js';
import { OPERATIONS } from './operations.js';
import type { OverlayModel } from './overlay.dto.js';
import { priceOf, requireOnly } from './overlay-prices.js';
import { RowFaults, termsOf } from './overlay-terms.js';
import { checkPriceFits } from './price-bounds.js';
import type { CostedRoute } from './route-cost.js';
import type { PriceRule } from './price-rule.js';
import { faultsOfImageChoices } from './image-choices.js';
import { faultsOfVideoChoices } from './video-choices.js';
import type { OwnVoices } from './voices.js';

/** A built-in row, or what a vendor's file says of a model: it has no price. */
type BaseRow = ModelRow | UnpricedRow<'video'> | UnpricedRow<'image'> | UnpricedRow<'composition'>;
type UnpricedRow<O extends Operation> = Omit<ModelRow<O>, 'price'> & { readonly price?: undefined };

/**
 * The row of an overlay entry, based on another row if there is one. Throws {@link RowFaults}, which name their fields, when
 * the entry is incomplete or does not fit its operation. A model without a price is never sold.
 */
export function overlaidRow(entry: OverlayModel, base?: BaseRow): ModelRow {
  const faults: string[] = [];
  const read = <T>(part: () => T): T | undefined => {
    try {
      return part();
    } catch (error) {
      faults.push(...(error instanceof RowFaults ? error.faults : [(error as Error).message]));
      return undefined;
    }
  };
  const operation = read(() => operationOf(entry, base));
  // Nothing else can be judged without it.
  if (operation === undefined) throw new RowFaults(faults);
  const price = read(() => priceFor(entry, operation, base));
  const terms = read(() => termsOf(entry, operation, base?.terms));
  const limits = read(() => limitsOf(entry, operation, base));
  const ofChat = read(() => chatFieldsOf(entry, operation, base));
  const voices = read(() => voicesOf(entry, operation, base));
  read(() => {
    checkRoutesOfChat(entry, operation);
  });
  read(() => {
    checkRouteOrder(entry);
  });
  const routes = read(() => routesOf(entry, operation));
  if (faults.length > 0) throw new RowFaults(faults);
  const row = {
    id: entry.id,
    operation,
    price,
    limits,
    ...ofChat,
    ...(terms && { terms }),
    ...(voices && { voices }),
    ...(entry.aliases && { aliases: entry.aliases }),
    ...soldBy(entry, routes, base),
  } as ModelRow;
  read(() => {
    checkPriceFits(row);
  });
  if (row.operation === 'video') faults.push(...faultsOfVideoChoices(row));
  if (row.operation === 'image') faults.push(...faultsOfImageChoices(row));
  read(() => {
    checkCostsFit(row);
  });
  if (faults.length > 0) throw new RowFaults(faults);
  return row;
}

function priceFor(
  { price }: OverlayModel,
  operation: Operation,
  base: BaseRow | undefined,
): PriceRule {
  if (price) {
    const unit = base?.price?.unit ?? price.unit;
    if (price.unit !== unit) throw new Error(`price.unit must be ${unit} for this model`);
    return priceOf(price, operation);
  }
  if (base?.price === undefined) throw new Error('price is required for a new model');
  return base.price;
}

function soldBy(
  { enabled, routable, route_order: routeOrder }: OverlayModel,
  given: readonly CostedRoute[] | undefined,
  base?: BaseRow,
): Pick<ModelRow, 'routes' | 'enabled' | 'isRoutable' | 'routeOrder'> {
  const routes = given ?? base?.routes ?? [];
  return {
    routes,
    ...(routable !== undefined && { isRoutable: routable }),
    ...(routeOrder !== undefined && { routeOrder }),
    enabled: enabled ?? base?.enabled ?? true,
  };
}

/** A cost counts what the price of the model counts, and has the bounds of a price. */
function checkCostsFit(row: ModelRow): void {
  for (const [index, { cost }] of row.routes.entries()) {
    if (cost === undefined) continue;
    ofCost(index, () => {
      if (cost.unit !== row.price.unit)
        throw new Error(`price.unit must be ${row.price.unit}, as in the price of the model`);
      checkPriceFits({ ...row, price: cost } as ModelRow);
    });
  }
}

function operationOf(entry: OverlayModel, base?: BaseRow): Operation {
  const operation = entry.operation ?? base?.operation;
  if (operation === undefined) throw new Error('operation is required for a new model');
  if (base && base.operation !== operation) {
    throw new Error(`operation of a built-in model is ${base.operation}`);
  }
  return operation;
}

function limitsOf(entry: OverlayModel, operation: Operation, base?: BaseRow): object {
  const limits = { ...base?.limits, ...(entry.limits && camelCased(entry.limits)) };
  const { required, optional } = OPERATIONS[operation].limits;
  const names = { required: required.map(toSnakeCase), optional: optional.map(toSnakeCase) };
  requireOnly(snakeCased(limits), names, 'limits');
  return limits;
}

function chatFieldsOf(
  { hidden_reasoning: isHidden, min_output_tokens: min, limits }: OverlayModel,
  operation: Operation,
  base?: BaseRow,
): Partial<Pick<ModelRow<'chat'>, 'hiddenReasoning' | 'minOutputTokens'>> {
  if (operation !== 'chat') {
    refuseGiven({ hidden_reasoning: isHidden, min_output_tokens: min });
    return {};
  }
  const known: Partial<ModelRow<'chat'>> = base?.operation === 'chat' ? base : {};
  checkFloor(min, limits?.max_output_tokens ?? known.limits?.maxOutputTokens);
  const { hiddenReasoning = false, minOutputTokens = MIN_OUTPUT_TOKENS } = known;
  return {
    hiddenReasoning: isHidden ?? hiddenReasoning,
    minOutputTokens: min ?? minOutputTokens,
  };
}

function checkFloor(min = 0, most = Infinity): void {
  if (min > most) {
    throw new Error(`min_output_tokens must be at most ${most}, the limits.max_output_tokens`);
  }
}

/** Throws {@link RowFaults} for fields that only rows of other operations take. */
function refuseGiven(fields: object): void {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const faults = given.map(([name]) => `${name} does not fit this operation`);
  if (faults.length > 0) throw new RowFaults(faults);
}

function voicesOf(
  { voices }: OverlayModel,
  operation: Operation,
  base?: BaseRow,
): OwnVoices | undefined {
  if (!OPERATIONS[operation].hasVoice) refuseGiven({ voices });
  return voices ?? base?.voices;
}

/** What only routes of text have: weights, which order them, and the protocol in which they are asked. */
function checkRoutesOfChat({ routes = [] }: OverlayModel, operation: Operation): void {
  if (operation === 'chat') return;
  const faults = routes.flatMap(({ weight, upstream_protocol }, index) =>
    Object.entries({ weight, upstream_protocol }).flatMap(([name, value]) =>
      value === undefined ? [] : [`routes.${index}.${name} does not fit this operation`],
    ),
  );
  if (faults.length > 0) throw new RowFaults(faults);
}

/** What orders routes by cost: the cost of each, and no weights beside it. */
function checkRouteOrder({ route_order: order, routes = [] }: OverlayModel): void {
  if (order !== 'cheapest') return;
  const faults = routes.flatMap(({ cost, weight }, index) => [
    ...(cost === undefined ? [`routes.${index}.cost is required with route_order cheapest`] : []),
    ...(weight === undefined
      ? []
      : [`routes.${index}.weight must not be set with route_order cheapest`]),
  ]);
  if (routes.length === 0) faults.push('routes is required with route_order cheapest');
  if (faults.length > 0) throw new RowFaults(faults);
}

function routesOf({ routes }: OverlayModel, operation: Operation): CostedRoute[] | undefined {
  return routes?.map((route, index) => {
    const { provider, weight, cost, upstream_protocol: upstreamProtocol } = route;
    return {
      provider,
      upstreamModel: route.upstream_model,
      ...(upstreamProtocol !== undefined && { upstreamProtocol }),
      ...(weight !== undefined && { weight }),
      ...(cost && { cost: ofCost(index, () => priceOf(cost, operation)) }),
    };
  });
}

/** Reads the cost of a route as the price it has the form of; its faults name the cost. */
function ofCost<T>(index: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const faults = error instanceof RowFaults ? error.faults : [(error as Error).message];
    throw new RowFaults(faults.map((fault) => fault.replace(/^price/, `routes.${index}.cost`)));
  }
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCased(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [toCamelCase(name), value]),
  );
}

/** The names as the file has them, for the text of an error. */
function snakeCased(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [toSnakeCase(name), value]),
  );
}

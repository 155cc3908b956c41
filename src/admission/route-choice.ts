import { ApiHeaders } from '@nestjs/swagger';
import type { Request } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { type CostedRoute, type MadeUnits, routeCostOf } from '../catalog/route-cost.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import type { AdmittedModel } from './admitted-call.js';

/** Orders and excludes the routes of a model. */
export const ROUTE_HEADER = 'x-gateway-route';
const SYNTAX = 'must be like `order=route-2,route-1; exclude=route-3`';
/** By which a usable route is known in its row. */
const IDENTITY = ['provider', 'upstreamModel', 'upstreamProtocol', 'weight', 'cost'] as const;
const PART = /^(order|exclude)=(route-[1-9](?:,route-[1-9]){0,7})$/;

/** OpenAPI: the header that chooses among the routes of a model. */
export const RouteHeader = (): MethodDecorator & ClassDecorator =>
  ApiHeaders([
    {
      name: ROUTE_HEADER,
      required: false,
      description:
        'Which of `routes` of the model come first, which never: `order=route-2,route-1; exclude=route-3`',
      // An example would be sent by the page of the API, and most models take no header.
      schema: { type: 'string' },
    },
  ]);

/** The neutral names of a model's routes, in the order of its row; undefined where callers may not choose. */
export function routeNamesOf({ routes, isRoutable }: ModelRow): readonly string[] | undefined {
  return isRoutable === true ? routes.map((_, index) => nameAt(index)) : undefined;
}

/** The routes that may run, and whether they are tried in the order of their costs. */
type ChosenRoutes = Pick<AdmittedModel, 'routes' | 'byCost'>;

/**
 * The routes as the caller wants them: those of `order` first, without those of `exclude`. Routes of the row that are not among
 * `usable` are passed over. An order of the caller's comes before weights and costs. Throws 400 `invalid_request` naming the header for
 * another syntax, an unknown name, a name given twice, a model whose routes are not the caller's choice, and where nothing is left.
 */
export function chosenRoutes(
  row: ModelRow,
  usable: readonly CostedRoute[],
  header: Request['headers'][string],
): ChosenRoutes {
  const byCost = row.routeOrder === 'cheapest';
  if (header === undefined) return { routes: usable, byCost };
  if (row.isRoutable !== true) throw refusal('is not taken by this model');
  const { order, exclude } = partsOf(header, row.routes.length);
  const named = new Map(usable.map((route) => [nameOf(row, route), route]));
  const first = order.flatMap((name) => named.get(name) ?? []);
  const isLeft = (route: CostedRoute) =>
    !first.includes(route) && !exclude.includes(nameOf(row, route));
  const left = [...first, ...usable.filter(isLeft)];
  if (left.length === 0) throw refusal('leaves no route that can run');
  if (order.length === 0) return { routes: left, byCost };
  return { routes: left.map(unweighted), byCost: false };
}

/** The routes with the least cost for this work first; those without a known cost come last. Equal ones keep their order. */
export function routesByCost<R extends CostedRoute>(
  { routes, byCost }: { readonly routes: readonly R[]; readonly byCost?: boolean },
  madeUnits: () => MadeUnits | null,
): readonly R[] {
  const made = byCost === true && routes.length > 1 ? madeUnits() : null;
  if (made === null) return routes;
  const costed = routes.map((route) => ({ route, cost: routeCostOf(route, made) }));
  return costed
    .sort(({ cost: one }, { cost: other }) => {
      if (one === other) return 0;
      if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
      return one < other ? -1 : 1;
    })
    .map(({ route }) => route);
}

/** {@link routesByCost} of work that is priced before it begins. */
export function routesForQuote<R extends CostedRoute>(
  call: { readonly routes: readonly R[]; readonly byCost?: boolean },
  { basis, choice }: Pick<Quote, 'basis' | 'choice'>,
): readonly R[] {
  return routesByCost(call, () => basis && { quantity: basis.quantity, choice });
}

function unweighted({ weight: _weight, ...route }: CostedRoute): CostedRoute {
  return route;
}

const nameAt = (index: number): string => `route-${index + 1}`;

function nameOf({ routes }: ModelRow, route: CostedRoute): string {
  return nameAt(routes.findIndex((own) => IDENTITY.every((field) => own[field] === route[field])));
}

function partsOf(
  header: string | readonly string[],
  count: number,
): { readonly order: readonly string[]; readonly exclude: readonly string[] } {
  const parts = { order: [] as string[], exclude: [] as string[] };
  const texts = typeof header === 'string' ? header.split(';', 3) : [''];
  for (const text of texts) {
    const [, kind, list = ''] = PART.exec(text.replaceAll(/\s/g, '')) ?? [];
    if ((kind !== 'order' && kind !== 'exclude') || parts[kind].length > 0) throw refusal(SYNTAX);
    parts[kind] = list.split(',');
  }
  const names = [...parts.order, ...parts.exclude];
  const unknown = names.find((name) => Number(name.slice('route-'.length)) > count);
  if (unknown !== undefined) throw refusal(`names ${unknown}, and the model has ${count}`);
  if (new Set(names).size < names.length) throw refusal('names a route twice');
  return parts;
}

function refusal(rule: string): GatewayError {
  return new GatewayError('invalid_request', `${ROUTE_HEADER} ${rule}.`, { param: ROUTE_HEADER });
}

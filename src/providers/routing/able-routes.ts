import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Route } from '../ports/attempt.js';
import type { Operation, PortByOperation } from '../ports/provider-ports.js';
import { ProviderRegistry } from './provider-registry.js';

/** What of a call decides where it can run: the routes of its model, and those of them that it may take now. */
interface RoutedCall<R extends Route> {
  readonly row: { readonly operation: Operation; readonly routes: readonly Route[] } & Pick<
    Route,
    'terms'
  >;
  readonly routes: readonly R[];
}

/** What an adapter cannot do of a request: its fields, by their public names. */
type LacksOf<O extends Operation> = (port: PortByOperation[O], route: Route) => readonly string[];

/** Finds the routes that do all that a request asks: nothing is left out silently. */
@Injectable()
export class AbleRoutes {
  constructor(private readonly registry: ProviderRegistry) {}

  /**
   * The routes of the call on which its adapter lacks nothing; all of them where none is configured. Throws 400 `invalid_request`,
   * whose `param` is a field that no route of the model does, or `x-gateway-route` where it excludes those that do all; and 503
   * `no_eligible_route` where a route that does all is paused.
   * @param publicName the name of a field as this caller sent it
   */
  of<O extends Operation, R extends Route>(
    { row, routes }: RoutedCall<R>,
    operation: O,
    lacks: LacksOf<O>,
    publicName: (field: string) => string = (field) => field,
  ): readonly R[] {
    const lackOf = (route: Route): readonly string[] | undefined => {
      const port = this.registry.portOf(route, operation);
      return port && lacks(port, route);
    };
    const able: R[] = [];
    const lacking: (readonly string[])[] = [];
    for (const route of routes) {
      const lack = lackOf(route);
      if (lack?.length === 0) able.push(route);
      else if (lack) lacking.push(lack);
    }
    if (able.length > 0) return able;
    if (lacking.length === 0) return routes;
    const others = row.routes.filter(
      (route) => lackOf({ ...route, terms: row.terms })?.length === 0,
    );
    if (others.some((route) => this.registry.paused.has(route)))
      throw new GatewayError('no_eligible_route', PAUSED, { shouldRetry: false });
    if (others.length > 0)
      throw new GatewayError('invalid_request', EXCLUDED, {
        param: 'x-gateway-route',
        shouldRetry: false,
      });
    throw beyondAll(lacking.map((lack) => lack.map(publicName)));
  }
}

const PAUSED = 'No route of the model that runs now does all that the request asks.';
const EXCLUDED = 'x-gateway-route excludes the routes that do all that the request asks.';

/** Names what every route lacks; where each lacks something else, what the first one does. */
function beyondAll(lacking: readonly (readonly string[])[]): GatewayError {
  const [first = [], ...others] = lacking;
  const common = first.filter((field) => others.every((lack) => lack.includes(field)));
  const fields = [...new Set(common.length > 0 ? common : lacking.flat())];
  const [param = ''] = fields;
  const message =
    fields.length === 1
      ? `No route of this model takes ${param} as it was sent.`
      : `No route of this model takes ${fields.join(' and ')} as they were sent, or not together.`;
  return new GatewayError('invalid_request', message, { param, shouldRetry: false });
}

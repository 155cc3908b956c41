import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { type Caller, mayUse } from '../auth/caller.js';
import { Catalog, unknownModel } from '../catalog/catalog.js';
import { OPERATIONS } from '../catalog/operations.js';
import { PriceBooks } from '../catalog/price-books/price-books.js';
import type { ErrorCode } from '../common/errors/error-table.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { API_FAMILY_CODES } from '../common/errors/api-family.js';
import { readModelId } from '../common/validation/parsed-body.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import type { Route } from '../providers/ports/attempt.js';
import { ProviderRegistry } from '../providers/routing/provider-registry.js';
import type { AdmittedModel } from './admitted-call.js';
import { chosenRoutes, ROUTE_HEADER } from './route-choice.js';
import { BoundQuotes, QUOTE_HEADER } from './quotes/bound-quotes.js';

const PLAY_MONEY_MESSAGE =
  'Play money buys sandbox work only; make an account with `account:create`.';
const REAL_MONEY_MESSAGE =
  'Real money does not buy sandbox work; make an account with `account:create --play-money`.';

/** As for a route that fails: the reason is the operator's. */
const PAUSED_MESSAGE = 'The model is not available right now.';
const MAX_RETRY_SECONDS = 60;

/** Names the settings, because on a first start caller and operator are often the same person. */
const NO_PROVIDER =
  "No route is available for this model: its provider is not configured. The operator can set the provider's key, or SANDBOX=on to try the model out.";

/** Metadata key of the operation of an endpoint. */
export const OPERATION = Symbol('OPERATION');

/**
 * Checks `model` before any other field: present, known (404), on the key's allowlist (403), right for this endpoint,
 * and with a route that can run (503 or 400, depending on the API family) and is not paused (503). For play money that route has to be the
 * sandbox's, for real money a provider's, unless `SANDBOX_CHARGES` is on (402, G-95, G-110). Notes the row, at the
 * prices of the account or of the quote in `x-gateway-quote`, and its routes as `x-gateway-route` wants them, on the request (decisions G-01, G-07 to G-09).
 */
@Injectable()
export class ModelGuard implements CanActivate {
  constructor(
    @Inject(Catalog) private readonly catalog: Catalog,
    private readonly reflector: Reflector,
    private readonly providers: ProviderRegistry,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'sandboxCharges'>,
    private readonly books: PriceBooks,
    private readonly quotes: BoundQuotes,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const operation = this.reflector.get<Operation>(OPERATION, context.getHandler());
    const { caller } = request;
    assert(caller, 'ModelGuard needs BearerGuard before it');
    const quote = request.get(QUOTE_HEADER);
    const admit = (): true | Promise<true> => {
      const admitted = this.admit(operation, caller, request.body, request.headers[ROUTE_HEADER]);
      if (quote !== undefined) return this.admitQuoted(admitted, quote, request);
      request.admitted = admitted;
      return true;
    };
    return this.books.refresh(caller.priceBook)?.then(admit) ?? admit();
  }

  /** Admits the model at the price of a quote. Throws 400 `invalid_quote`, 409 `quote_expired`. */
  private async admitQuoted(
    admitted: AdmittedModel,
    quote: string,
    request: Request,
  ): Promise<true> {
    const { accountId = '' } = request.caller ?? {};
    const { path: endpoint } = request.route as { readonly path: string };
    const quoted = { accountId, endpoint, body: request.body as unknown };
    request.admitted = {
      ...admitted,
      row: await this.quotes.priced(admitted.row, quote, quoted),
    };
    return true;
  }

  /** The model that a body names, at the prices of the caller; `PriceBooks.refresh` first. Throws as described above. */
  admit(
    operation: Operation,
    caller: Caller,
    body: unknown,
    choice?: Request['headers'][string],
  ): AdmittedModel {
    const codes = API_FAMILY_CODES[OPERATIONS[operation].family];
    const modelName = readModelId(body);
    const row = this.catalog.find(modelName);
    if (!row) {
      const usable = this.catalog
        .list()
        .filter((listed) => listed.operation === operation && mayUse(caller, listed.id));
      throw unknownModel(codes.unknownModel, { name: modelName, usable });
    }
    if (!mayUse(caller, row.id)) {
      const message = 'This API key may not use the model.';
      throw new GatewayError('api_key_model_not_allowed', message, { param: 'model' });
    }
    if (row.operation !== operation) {
      const message = 'The model does not run on this endpoint.';
      throw new GatewayError(codes.wrongEndpoint, message, { param: 'model', shouldRetry: false });
    }
    const routes = this.catalog.routesOf(row.id);
    if (routes.length === 0) {
      throw new GatewayError('no_eligible_route', NO_PROVIDER, {
        param: 'model',
        // A retry fails until the operator configures a provider.
        shouldRetry: false,
      });
    }
    const payable = this.working(this.payable(caller, routes, codes.insufficient));
    const priced = this.books.rowFor(row, this.books.inForce(caller.priceBook));
    return { row: priced, modelName, ...chosenRoutes(row, payable, choice) };
  }

  /** The routes that no operator has paused. Throws 503 `provider_unavailable` where all are. */
  private working(routes: readonly Route[]): readonly Route[] {
    const { paused } = this.providers;
    const working = routes.filter((route) => !paused.has(route));
    if (working.length > 0) return working;
    const seconds = routes.map((route) => paused.secondsLeft(route));
    throw new GatewayError('provider_unavailable', PAUSED_MESSAGE, {
      param: 'model',
      retryAfterSeconds: Math.min(MAX_RETRY_SECONDS, ...seconds),
    });
  }

  /** The routes that the caller's kind of money can pay for. */
  private payable(
    caller: Caller,
    routes: readonly Route[],
    errorCode: ErrorCode,
  ): readonly Route[] {
    const { hasPlayMoney = false } = caller;
    if (!hasPlayMoney && this.config.sandboxCharges === 'on') return routes;
    const payable = routes.filter(
      ({ provider }) => this.providers.isSandbox(provider) === hasPlayMoney,
    );
    if (payable.length > 0) return payable;
    throw new GatewayError(errorCode, hasPlayMoney ? PLAY_MONEY_MESSAGE : REAL_MONEY_MESSAGE);
  }
}

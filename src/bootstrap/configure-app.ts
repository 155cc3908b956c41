import assert from 'node:assert/strict';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { setUpResponseMemoryLimit } from './response-memory-limit.setup.js';
import { serveSwaggerUi } from './openapi/swagger-ui.js';
import { familyOfRequest } from './request-family.js';
import { DatabaseOutage } from './database-outage.js';
import { setUpLoadShedding } from './load-shedding.setup.js';
import { UnroutedRequests } from '../admission/unrouted-requests.js';
import { methodHint } from '../admission/unsupported-endpoints.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { ProcessLease } from '../billing/recovery/process-lease.js';
import { ConsolePage } from '../console/console-page.js';
import { GatewayErrorFilter } from '../platform/http-server/responses/gateway-error.filter.js';
import {
  LOOPBACK_NETWORKS,
  limitConnectionsPerIp,
} from '../platform/http-server/client-limits/connections-per-ip.js';
import { ConsoleRequests } from '../console/sign-in/console-requests.js';
import { corsFor } from '../platform/http-server/responses/cors.js';
import { executionId } from '../platform/http-server/responses/execution-id.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import type { InFlight } from '../platform/http-server/connections/in-flight.js';
import type { HeaderMiddleware } from '../platform/http-server/load-shedding/overload-refusal.js';
import { toPublicId } from '../common/ids/public-id.js';
import { Clock } from '../common/time/clock.js';
import {
  GATEWAY_CONFIG,
  type GatewayConfig,
  servesConsole,
} from '../platform/config/gateway-config.js';
import { loggableError, LOGGER } from '../platform/observability/logger.js';
import { Metrics } from '../platform/observability/metrics.js';
import { publishProcessFigures } from './process-figures.setup.js';
import { type LoggedRefusal, requestLog } from '../platform/observability/request-log.js';
import { Tracing } from '../platform/observability/tracing.js';
import { ProviderError } from '../providers/http/provider-error.js';

/**
 * Sets up everything about the application that is not a module: middleware, the filter, Swagger. The program and tests
 * use it. Returns the filter, for errors that reach no handler.
 */
export function configureApp(app: NestExpressApplication, inFlight: InFlight): GatewayErrorFilter {
  const logger = app.get<Logger>(LOGGER);
  const unrouted = app.get(UnroutedRequests);
  const { refusals } = app.get(Metrics);
  const outage = outageOf(app, logger);
  const filter = new GatewayErrorFilter({
    onError: (error, request) => {
      refusals.inc({ code: error.code });
      if (outage.counts(error)) request.refusal = refusalOf(error);
      else logError(logger, error, request);
    },
    // A database that cannot be reached is an outage, not an internal error.
    translate: (thrown) => outage.translate(thrown),
    familyOf: familyOfRequest,
    methodsOf: (path) => unrouted.methodsOf(path),
    methodHint: methodHint,
    hintFor: (path) => unrouted.hintFor(path),
  });
  const config = app.get<GatewayConfig>(GATEWAY_CONFIG);
  const { corsOrigins, role } = config;
  app.set('trust proxy', [...config.trustProxy]);
  shareConnectionsOf(app, logger);
  app.useGlobalFilters(filter);
  const ids = executionId(app.get(Clock), familyOfRequest);
  const cors = corsOrigins.length > 0 ? [corsFor(corsOrigins)] : [];
  const secure = secureHeaders();
  setUpLoadShedding(app, [ids, ...cors, secure]);
  setUpResponseMemoryLimit(app);
  app.use(ids);
  app.use(requestLog(logger, app.get(Metrics), app.get(Tracing)));
  for (const middleware of cors) app.use(middleware);
  app.use(inFlight.watch(refuseWhileDraining(filter)));
  publishProcessFigures(app);
  if (role === 'worker') app.use('/v1', respondNotFound(filter));
  app.use(secure);
  app.use('/docs', onlyPageFiles(respondNotFound(filter)));
  serveSwaggerUi(app);
  if (servesConsole(config)) serveConsole(app, filter);
  return filter;
}

/** The calls of the page, and the page. Without the build of the console the page is an unknown path. */
function serveConsole(app: NestExpressApplication, filter: GatewayErrorFilter): void {
  const requests = app.get(ConsoleRequests, { strict: false });
  app.use(requests.middleware(filter.answer.bind(filter)));
  const page = ConsolePage.read(app.get(GatewayUrl).pathPrefix);
  if (page !== undefined) app.use('/console', page.serve);
}

const REFUSALS_LOGGED_EVERY_MS = 60_000;

function shareConnectionsOf(app: NestExpressApplication, logger: Logger): void {
  const { maxConnectionsPerAddress, trustProxy } = app.get<GatewayConfig>(GATEWAY_CONFIG);
  const clock = app.get(Clock);
  let loggedAtMs = -Infinity;
  limitConnectionsPerIp(app.getHttpServer(), {
    perAddress: maxConnectionsPerAddress,
    proxies: [...LOOPBACK_NETWORKS, ...trustProxy],
    onRefused: (address) => {
      if (clock.nowMs() - loggedAtMs < REFUSALS_LOGGED_EVERY_MS) return;
      loggedAtMs = clock.nowMs();
      logger.warn({ address }, 'connections refused: MAX_CONNECTIONS_PER_ADDRESS are open');
    },
  });
}

/** A process with `ROLE=worker` serves no callers. */
function respondNotFound(filter: GatewayErrorFilter) {
  return (request: Request, response: Response): void => {
    filter.answer(new GatewayError('not_found', 'No such path.'), request, response);
  };
}

/** The files that the page at `/docs` loads. */
const PAGE_FILES =
  /^\/?$|^\/(swagger-ui\.css|swagger-ui-(bundle|standalone-preset|init)\.js|favicon-\d+x\d+\.png)$/;

/** The folder of the page also holds files that are not served. */
function onlyPageFiles(refuse: (request: Request, response: Response) => void) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (PAGE_FILES.test(request.path)) next();
    else refuse(request, response);
  };
}

/** A restart behind a load balancer is normal, so it is not logged as an error. */
class RefusedWhileDraining extends GatewayError {
  constructor() {
    super('service_unavailable', 'The gateway is shutting down.', { retryAfterSeconds: 1 });
  }
}

function refuseWhileDraining(filter: GatewayErrorFilter) {
  return (request: Request, response: Response): void => {
    filter.answer(new RefusedWhileDraining(), request, response);
  };
}

/**
 * The content security policy of Swagger UI: its own files, inline styles and icons, calls to this gateway, and media
 * players for responses.
 */
const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:', 'blob:'],
  mediaSrc: ["'self'", 'blob:'],
  fontSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/**
 * The security headers that an API needs. Only the Swagger page may run scripts and styles, and only its own. TLS and
 * HSTS are left to the load balancer.
 */
function secureHeaders(): HeaderMiddleware {
  const api = {
    strictTransportSecurity: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    crossOriginOpenerPolicy: false,
  };
  const directives = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };
  const strict = headersOf(
    helmet({ ...api, contentSecurityPolicy: { useDefaults: false, directives } }),
  );
  const page = headersOf(
    helmet({ ...api, contentSecurityPolicy: { useDefaults: false, directives: PAGE_POLICY } }),
  );
  return (request, response, next) => {
    const headers = request.path.startsWith('/docs') ? page : strict;
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/**
 * The headers that helmet sets on every response, computed once, because its chain of middleware costs more than the
 * headers.
 */
function headersOf(middleware: ReturnType<typeof helmet>): readonly (readonly [string, string])[] {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  middleware({} as Request, response as unknown as Response, (error) => {
    assert.ifError(error);
  });
  return headers;
}

function outageOf(app: NestExpressApplication, logger: Logger): DatabaseOutage {
  const outage = new DatabaseOutage({ logger, nowMs: () => performance.now() });
  app.get(ProcessLease, { strict: false }).onHeartbeat(() => {
    outage.end();
  });
  return outage;
}

/** A refusal without a cause to show is told in the line of its request; anything else has a line of its own. */
function logError(logger: Logger, error: GatewayError, request: Partial<Request>): void {
  const { code, param } = error;
  const fields = { ...idsOf(request), code, param };
  // The cause of a rejected request may quote the body (JSON.parse does). The cause of a provider's failure never
  // does.
  const logsCause =
    error.cause !== undefined && (error.status >= 500 || error.cause instanceof ProviderError);
  const entry = logsCause ? { ...fields, cause: loggableError(error.cause) } : fields;
  // Without a cause it is a mistake of the caller that the API answers with 503 (decision G-09).
  const isCallersMistake = error.shouldRetry === false && error.cause === undefined;
  const isFailure =
    error.status >= 500 && !isCallersMistake && !(error instanceof RefusedWhileDraining);
  const isTold = request.isLogged === true && !isFailure && !logsCause;
  request.refusal = isTold ? refusalOf(error) : { code, param };
  if (isFailure) logger.error(entry, error.message);
  else if (!isTold) logger.info(entry, error.message);
}

function refusalOf({ code, param, message: reason }: GatewayError): LoggedRefusal {
  return { code, param, reason };
}

function idsOf({ executionId: id, caller, admitted }: Partial<Request>) {
  return {
    // A request can fail before it has an id.
    execution_id: id && toPublicId('exec', id),
    account_id: caller && toPublicId('acct', caller.accountId),
    model: admitted?.row.id,
  };
}

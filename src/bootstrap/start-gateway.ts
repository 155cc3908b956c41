import type { AddressInfo } from 'node:net';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { AdminTasksService } from '../admin/admin-tasks.service.js';
import { AppModule } from '../app.module.js';
import { handVendorsOver, oneByOne, reloadCatalog } from './reload-catalog.js';
import { familyOfRequest } from './request-family.js';
import { configureApp } from './configure-app.js';
import { shutDownGracefully } from './graceful-shutdown.js';
import { logStartupWarnings } from './startup-warnings.js';
import type { ProvidersOptions } from '../providers/providers.options.js';
import { providersOptions, sandboxedOf, unusedProviders } from '../providers/provider-configs.js';
import { sandboxScope } from '../providers/sandboxed.js';
import { Catalog } from '../catalog/catalog.js';
import { CatalogChangeRecorder } from '../catalog/catalog-change-recorder.js';
import { nameVoices } from '../catalog/voices.js';
import { loadCatalog } from '../catalog/catalog-file.js';
import { withSandboxModels } from '../catalog/models/sandbox.models.js';
import type { GatewayErrorFilter } from '../platform/http-server/responses/gateway-error.filter.js';
import type { RequestContext } from '../platform/http-server/connections/request-context.js';
import { FastExpressAdapter } from '../platform/http-server/connections/fast-express.adapter.js';
import { InFlight } from '../platform/http-server/connections/in-flight.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import type { SandboxAccess } from '../platform/config/worker-context.js';
import { operatorsOf } from '../commands/open-operators.js';
import { OperatorSocket } from '../commands/operator-socket.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import { SealedSecrets } from '../sealed/sealed-secrets.js';
import { SandboxMedia } from '../sandbox-media/sandbox-media.js';
import { loggableError, NestLogger } from '../platform/observability/logger.js';
import { Readiness } from '../platform/observability/readiness.js';
import { Tracing } from '../platform/observability/tracing.js';
import { publishMedia, type Sandbox, startSandbox } from '../sandbox/sandbox.js';

/** A gateway in this process. */
export interface Gateway {
  readonly app: NestExpressApplication;
  readonly url: string;
  readonly sandbox: Sandbox | undefined;
  /** Whether the sandbox serves every provider. */
  readonly isSandboxed: boolean;
  /** Ends a request whose error nothing else handled. */
  readonly endExchange: (error: unknown, exchange: RequestContext) => void;
  /** Applies the present `CATALOG_FILE`; see {@link reloadCatalog}. */
  readonly reload: () => Promise<void>;
  /** Reports not ready, lets running calls finish or aborts them after `DRAIN_TIMEOUT_MS`, then closes everything. */
  stop(): Promise<void>;
}

/** Options from the primary or the command line. */
interface StartOptions {
  /** The sandbox of the primary, if there is one. */
  readonly shared?: SandboxAccess | undefined;
  /** The socket for operator commands; undefined: none. */
  readonly operatorSocket?: string | undefined;
  /** Whether the database is the embedded one; default: as the settings say. */
  readonly isEmbedded?: boolean;
}

/** Builds the application, opens the database, starts the sandbox if it is needed and not `shared`, and listens. */
export async function startGateway(
  config: GatewayConfig,
  logger: Logger,
  { shared, operatorSocket, isEmbedded }: StartOptions = {},
): Promise<Gateway> {
  const loaded = loadCatalog(config.catalogFile, config.vendorsDir);
  nameVoices(loaded.voiceAliases, loaded.rows);
  const scope = sandboxScope(config, loaded);
  const sandbox = scope === 'none' || shared ? undefined : await startSandbox();
  const upstream = shared ?? sandbox;
  const providers = providersOptions(config, loaded, upstream);
  if (upstream) await handVendorsOver(upstream, providers, logger);
  const catalog = withSandboxModels(loaded, sandboxedOf(providers));
  const sandboxMediaUrl = upstream?.mediaUrl;
  const tracing = await Tracing.open(config, logger);
  const parts = { config, logger, tracing, catalog, providers, sandboxMediaUrl };
  const inFlight = new InFlight();
  const adapter = new FastExpressAdapter(familyOfRequest);
  const app = await createApp(AppModule.forRoot(parts), adapter, logger);
  await checkSecrets(app);
  const filter = configureApp(app, inFlight);
  await app.listen(config.port, config.host);
  // Only once the gateway listens, so that a failed start prints nothing but its reason.
  const unused = unusedProviders(providers, catalog.rows);
  logStartupWarnings(config, { idle: app.get(Catalog).idle(), unused }, logger, isEmbedded);
  const gatewayUrl = app.get(GatewayUrl);
  gatewayUrl.listensAt(app.getHttpServer().address() as AddressInfo);
  if (upstream) await publishSandboxMedia(upstream, gatewayUrl.href, app, logger);
  const operators = operatorSocket === undefined ? undefined : await listen(operatorSocket, app);
  serve(app);
  logger.info(
    { url: gatewayUrl.href, docs: `${gatewayUrl.href}/docs`, ...servedBy(providers) },
    'Shim is ready',
  );
  return {
    app,
    url: await app.getUrl(),
    sandbox,
    isSandboxed: scope === 'all',
    endExchange: endExchangeWith(filter),
    reload: oneByOne(() => reloadCatalog({ app, config, logger, sandbox: upstream })),
    stop: async () => {
      const { drainTimeoutMs: timeoutMs, role } = config;
      // No balancer sends anything to a worker.
      const noticeMs = role === 'worker' ? 0 : config.drainNoticeMs;
      await shutDownGracefully(app, { adapter, inFlight, operators, noticeMs, timeoutMs });
      await sandbox?.close();
      logger.info('stopped');
    },
  };
}

function createApp(
  module: DynamicModule,
  adapter: FastExpressAdapter,
  logger: Logger,
): Promise<NestExpressApplication> {
  return NestFactory.create<NestExpressApplication>(module, adapter, {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
}

/** The gateway takes requests from now on, at the prices that are recorded. */
function serve(app: NestExpressApplication): void {
  app.get(CatalogChangeRecorder).start();
  app.get(Readiness).serve();
}

/**
 * Responds to a request whose error nothing else has handled. The connection closes, because later data on it may be
 * lost.
 */
function endExchangeWith(filter: GatewayErrorFilter): Gateway['endExchange'] {
  return (error, { request, response }) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
    filter.answer(error, request, response);
  };
}

/**
 * Makes the URLs of the sandbox name this gateway, which accepts them as input. With several workers, each sets the
 * same base.
 */
async function publishSandboxMedia(
  sandbox: SandboxAccess,
  gatewayUrl: string,
  app: NestExpressApplication,
  logger: Logger,
): Promise<void> {
  const base = app.get(SandboxMedia).publishAt(gatewayUrl);
  await publishMedia(sandbox, base).catch((error: unknown) => {
    // A crash of the sandbox counts as an outage of a provider; the gateway continues.
    logger.warn({ cause: loggableError(error) }, 'the sandbox does not respond');
  });
}

/** Before any secret is sealed or opened. If the start is rejected, the database server is stopped. */
async function checkSecrets(app: NestExpressApplication): Promise<void> {
  try {
    await app.get(SealedSecrets).check();
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Names the providers that are real and those that the sandbox replaces. */
function servedBy(options: ProvidersOptions) {
  const sandboxed = sandboxedOf(options);
  const ids = options.providers.map(({ id }) => id);
  return { real: ids.filter((id) => !sandboxed.includes(id)), sandboxed };
}

/** Opens the socket for operator commands; undefined if that is not possible. */
function listen(path: string, app: NestExpressApplication): Promise<OperatorSocket | undefined> {
  return OperatorSocket.listen(path, { ...operatorsOf(app), tasks: app.get(AdminTasksService) });
}

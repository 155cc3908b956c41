import 'reflect-metadata';
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { runPrimary } from './cluster-primary.js';
import { type Gateway, startGateway } from './start-gateway.js';
import { greet } from './first-start.js';
import { SighupHandler } from './sighup-handler.js';
import { waitForPromotion } from './standby-wait.js';
import { UncaughtErrorHandler } from './uncaught-error-handler.js';
import { operatorSocketPath } from '../commands/operator-socket.js';
import { SystemClock } from '../common/time/clock.js';
import { readVariable } from '../platform/config/environment-variables.js';
import { type GatewayConfig, workerCount } from '../platform/config/gateway-config.js';
import { loadConfig } from '../platform/config/load-config.js';
import { withSecretKeys } from '../platform/config/secret-key-file.js';
import { readWorkerContext } from '../platform/config/worker-context.js';
import { makeLogger } from '../platform/observability/logger.js';

/**
 * The process is ended if its stop takes longer than this. It includes the drain, the release of aborted calls, and the
 * closing.
 */
const STOP_MARGIN_MS = 4_500;

/** Serves until a signal ends it: in this process, or in `WORKERS` processes that this one starts. */
export async function bootstrap(): Promise<void> {
  const worker = readWorkerContext();
  const loaded = await withSecretKeys(loadConfig());
  const config = worker ? { ...loaded, databaseUrl: worker.databaseUrl } : loaded;
  const logger = makeLogger(config.logLevel, process.stdout.isTTY);
  if (config.databaseUrl !== undefined) {
    const { databaseUrl, port, host } = config;
    await waitForPromotion({ databaseUrl, port, host, answers: cluster.isPrimary }, logger);
  }
  if (cluster.isPrimary && workerCount(config) > 1) return runPrimary(config, logger);
  const sighupHandler = new SighupHandler();
  const isEmbedded = worker?.isEmbedded ?? config.databaseUrl === undefined;
  const gateway = await startGateway(config, logger, {
    isEmbedded,
    shared: worker?.sandbox,
    // The settings, as a command reads them.
    operatorSocket: operatorSocketPath(loaded),
  });
  // First, because a signal may arrive as soon as the gateway is ready.
  const end = endWhenTold(gateway, sighupHandler, config, logger);
  if (worker?.greets ?? true) {
    const { dataDir } = config;
    const isJsonOnly = readVariable('NODE_ENV') === 'production' && !process.stdout.isTTY;
    const first = { isEmbedded, dataDir, isJsonOnly, hasConsole: config.console === 'on' };
    await greet(gateway, first, logger).catch((error: unknown) => {
      // If the gateway is stopped meanwhile, its database is closed.
      if (!end.hasBegun) throw error;
    });
  }
}

/**
 * Stops the gateway and ends the process on a signal, or when the same error has occurred too often. Returns whether it
 * has begun to stop.
 */
function endWhenTold(
  gateway: Gateway,
  sighupHandler: SighupHandler,
  { drainTimeoutMs, catalogFile, vendorsDir }: GatewayConfig,
  logger: Logger,
): { readonly hasBegun: boolean } {
  const end = { hasBegun: false };
  const stop = (code: 0 | 1): void => {
    end.hasBegun = true;
    setTimeout(() => process.exit(1), drainTimeoutMs + STOP_MARGIN_MS).unref();
    void gateway.stop().finally(() => {
      logger.flush();
      process.exit(code);
    });
  };
  const actions = {
    endExchange: gateway.endExchange,
    onSick: () => {
      stop(1);
    },
  };
  new UncaughtErrorHandler(logger, new SystemClock(), actions).install();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop(0);
    });
  }
  sighupHandler.listen({
    isReloadable: catalogFile !== undefined || vendorsDir !== undefined,
    reload: () => void gateway.reload(),
    stop: () => {
      stop(0);
    },
  });
  return end;
}

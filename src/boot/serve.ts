import 'reflect-metadata';
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { runPrimary } from './run-workers.js';
import { type Gateway, startGateway } from './start-gateway.js';
import { greet } from './greeting.js';
import { HangUp } from './hang-up.js';
import { LastNet } from './last-net.js';
import { operatorSocketPath } from '../commands/operator-socket.js';
import { SystemClock } from '../common/time/clock.js';
import { type GatewayConfig, workerCount } from '../platform/config/gateway-config.js';
import { loadConfig } from '../platform/config/load-config.js';
import { withSecretKeys } from '../platform/config/secret-key-file.js';
import { readWorkerContext } from '../platform/config/worker-context.js';
import { makeLogger } from '../platform/observability/logger.js';

/** A stop that hangs is ended after this time. It includes the drain, the release of aborted calls, and the closing. */
const STOP_MARGIN_MS = 4_500;

/** Serves until a signal ends it: in this process, or in `WORKERS` processes that this one starts. */
export async function serve(): Promise<void> {
  const worker = readWorkerContext();
  const loaded = await withSecretKeys(loadConfig());
  const config = worker ? { ...loaded, databaseUrl: worker.databaseUrl } : loaded;
  const logger = makeLogger(config.logLevel, process.stdout.isTTY);
  if (cluster.isPrimary && workerCount(config) > 1) return runPrimary(config, logger);
  const hangUp = new HangUp();
  const isEmbedded = worker?.isEmbedded ?? config.databaseUrl === undefined;
  const gateway = await startGateway(config, logger, {
    isEmbedded,
    shared: worker?.sandbox,
    // By the settings as a command reads them.
    operatorSocket: operatorSocketPath(loaded),
  });
  // First, because the gateway is ready by now, and may be told at once.
  const end = endWhenTold(gateway, hangUp, config, logger);
  if (worker?.greets ?? true) {
    await greet(gateway, isEmbedded, logger).catch((error: unknown) => {
      // A gateway that ends meanwhile has closed its database.
      if (!end.hasBegun) throw error;
    });
  }
}

/** Stops the gateway and ends the process on a signal, or when the same error has come too often. Says whether it does. */
function endWhenTold(
  gateway: Gateway,
  hangUp: HangUp,
  { drainTimeoutMs, catalogFile }: GatewayConfig,
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
  new LastNet(logger, new SystemClock(), actions).spread();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop(0);
    });
  }
  hangUp.listen({
    catalogFile,
    reload: gateway.reload,
    stop: () => {
      stop(0);
    },
  });
  return end;
}

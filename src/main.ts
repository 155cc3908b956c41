import 'reflect-metadata';
import cluster from 'node:cluster';
import { boundDroppedBuffers } from './boot/dropped-buffers.js';
import { runPrimary } from './boot/run-workers.js';
import { startGateway } from './boot/start-gateway.js';
import { greet } from './boot/greeting.js';
import { keepObjectsYoung } from './boot/young-objects.js';
import { startFault } from './boot/start-fault.js';
import { HangUp } from './boot/hang-up.js';
import { LastNet } from './boot/last-net.js';
import { operatorSocketPath } from './commands/operator-socket.js';
import { SystemClock } from './common/time/clock.js';
import { workerCount } from './config/gateway-config.js';
import { loadConfig } from './config/load-config.js';
import { withSecretKeys } from './config/secret-key-file.js';
import { readWorkerContext } from './config/worker-context.js';
import { makeLogger } from './observability/logger.js';

/** A stop that hangs is ended after this time. It includes the drain, the release of aborted calls, and the closing. */
const STOP_MARGIN_MS = 4_500;

async function main(): Promise<void> {
  boundDroppedBuffers();
  keepObjectsYoung();
  const worker = readWorkerContext();
  const loaded = await withSecretKeys(loadConfig());
  const config = worker ? { ...loaded, databaseUrl: worker.databaseUrl } : loaded;
  const logger = makeLogger(config.logLevel, process.stdout.isTTY);
  if (cluster.isPrimary && workerCount(config) > 1) return runPrimary(config, logger);
  const hangUp = new HangUp();
  const gateway = await startGateway(config, logger, {
    shared: worker?.sandbox,
    // By the settings as a command reads them.
    operatorSocket: operatorSocketPath(loaded),
  });
  const isEmbedded = worker?.isEmbedded ?? config.databaseUrl === undefined;
  if (isEmbedded && (worker?.greets ?? true)) await greet(gateway);
  const stop = (code: 0 | 1): void => {
    setTimeout(() => process.exit(1), config.drainTimeoutMs + STOP_MARGIN_MS).unref();
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
  const { catalogFile } = config;
  hangUp.listen({
    catalogFile,
    reload: gateway.reload,
    stop: () => {
      stop(0);
    },
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${startFault(error)}\n`);
  process.exit(1);
});

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { sandboxScope } from './upstreams.js';
import { MemoryBuckets } from '../auth/rate-limit/memory-buckets.js';
import { serveBuckets } from '../auth/rate-limit/primary-buckets.js';
import { loadCatalog } from '../catalog/catalog-file.js';
import { SystemClock } from '../common/time/clock.js';
import { type GatewayConfig, workerCount } from '../config/gateway-config.js';
import { toWorkerEnvironment, type WorkerContext } from '../config/worker-context.js';
import { EmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { serveClusterMetrics } from '../observability/cluster-metrics.js';
import { startSandbox } from '../sandbox/sandbox.js';

/** A worker that dies is replaced, at most so often in a minute; a crash at start must not loop. */
const RESTARTS_PER_MINUTE = 10;
const MINUTE_MS = 60_000;

/**
 * The primary of `WORKERS` processes: runs what they share (embedded database, sandbox, rate-limit buckets, metrics),
 * keeps them running, and on SIGTERM drains them before it stops the rest.
 */
export async function runPrimary(config: GatewayConfig, logger: Logger): Promise<void> {
  const scope = sandboxScope(config, loadCatalog(config.catalogFile));
  const postgres =
    config.databaseUrl === undefined
      ? await EmbeddedPostgres.start({ dataDir: config.dataDir })
      : undefined;
  const sandbox = scope === 'none' ? undefined : await startSandbox();
  const context: Omit<WorkerContext, 'greets'> = {
    databaseUrl: postgres?.url ?? config.databaseUrl ?? '',
    isEmbedded: postgres !== undefined,
    sandbox,
  };
  const workers = new Workers(context, logger);
  for (let index = 0; index < workerCount(config); index++) workers.fork(index === 0);
  const stop = (): void => {
    void workers
      .stop()
      .then(() => sandbox?.close())
      .then(() => postgres?.stop())
      .finally(() => process.exit(workers.gaveUp ? 1 : 0));
  };
  workers.onGiveUp = stop;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
}

class Workers {
  gaveUp = false;
  onGiveUp: () => void = () => undefined;
  private readonly buckets = new MemoryBuckets(new SystemClock());
  private readonly live = new Set<Worker>();
  private stopping = false;
  private restarts = 0;

  constructor(
    private readonly context: Omit<WorkerContext, 'greets'>,
    private readonly logger: Logger,
  ) {
    setInterval(() => (this.restarts = 0), MINUTE_MS).unref();
  }

  fork(greets: boolean): void {
    const worker = cluster.fork(toWorkerEnvironment({ ...this.context, greets }));
    this.live.add(worker);
    serveBuckets(worker, this.buckets);
    serveClusterMetrics(worker);
    worker.once('exit', (code) => {
      this.live.delete(worker);
      if (!this.stopping) this.replace(code);
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(
      [...this.live].map(async (worker) => {
        const exited = once(worker, 'exit');
        worker.process.kill('SIGTERM');
        await exited;
      }),
    );
  }

  private replace(code: number): void {
    this.logger.error({ code }, 'a worker process died');
    this.restarts += 1;
    if (this.restarts <= RESTARTS_PER_MINUTE) {
      this.fork(false);
      return;
    }
    this.gaveUp = true;
    this.onGiveUp();
  }
}

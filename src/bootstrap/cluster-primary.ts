import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { sandboxScope } from '../providers/sandboxed.js';
import { MemoryBuckets } from '../auth/rate-limit/memory-buckets.js';
import { serveBuckets } from '../auth/rate-limit/cluster-buckets.js';
import { loadCatalog } from '../catalog/catalog-file.js';
import { SystemClock } from '../common/time/clock.js';
import { type GatewayConfig, workerCount } from '../platform/config/gateway-config.js';
import { toWorkerEnvironment, type WorkerContext } from '../platform/config/worker-context.js';
import { connectionsFor } from '../platform/database/data-source.js';
import { EmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.js';
import { serveClusterMetrics } from '../platform/observability/cluster-metrics.js';
import { startSandbox } from '../sandbox/sandbox.js';
import { SighupHandler } from './sighup-handler.js';
import { UncaughtErrorHandler } from './uncaught-error-handler.js';
import { type DeadWorker, WorkerRestartPolicy } from './worker-restart-policy.js';

/**
 * The primary of `WORKERS` processes. It runs what they share (embedded database, sandbox, rate-limit buckets,
 * metrics), replaces workers that die, and on SIGTERM drains the workers before it stops the rest.
 */
export async function runPrimary(config: GatewayConfig, logger: Logger): Promise<void> {
  const scope = sandboxScope(config, loadCatalog(config.catalogFile, config.vendorsDir));
  const postgres =
    config.databaseUrl === undefined
      ? await EmbeddedPostgres.start({
          dataDir: config.dataDir,
          settings: { max_connections: String(connectionsFor(workerCount(config))) },
        })
      : undefined;
  const sandbox = scope === 'none' ? undefined : await startSandbox();
  const context: Omit<WorkerContext, 'greets'> = {
    databaseUrl: postgres?.url ?? config.databaseUrl ?? '',
    isEmbedded: postgres !== undefined,
    sandbox,
  };
  // The script may have been started under another path.
  cluster.setupPrimary({ exec: fileURLToPath(new URL('../main.js', import.meta.url)) });
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
  const onSick = (): void => {
    workers.giveUp();
  };
  new UncaughtErrorHandler(logger, new SystemClock(), {
    endExchange: () => undefined,
    onSick,
  }).install();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
  new SighupHandler().listen({
    isReloadable: config.catalogFile !== undefined || config.vendorsDir !== undefined,
    reload: () => {
      workers.reload();
    },
    stop,
  });
}

class Workers {
  gaveUp = false;
  onGiveUp: () => void = () => undefined;
  private readonly buckets = new MemoryBuckets(new SystemClock());
  private readonly live = new Set<Worker>();
  private readonly ready = new Set<Worker>();
  private readonly unsignalled = new Set<Worker>();
  private readonly replacement = new WorkerRestartPolicy();
  private readonly clock = new SystemClock();
  private stopping = false;

  constructor(
    private readonly context: Omit<WorkerContext, 'greets'>,
    private readonly logger: Logger,
  ) {}

  fork(greets: boolean): void {
    const worker = cluster.fork(toWorkerEnvironment({ ...this.context, greets }));
    const startedAtMs = this.clock.nowMs();
    this.live.add(worker);
    // The worker may have died before the message was sent.
    worker.on('error', (err) => {
      this.logger.warn({ err }, 'a worker process cannot be reached');
    });
    serveBuckets(worker, this.buckets);
    serveClusterMetrics(worker);
    worker.once('listening', () => {
      this.ready.add(worker);
      if (this.unsignalled.delete(worker)) worker.process.kill('SIGHUP');
      this.replacement.ready();
    });
    worker.once('exit', (code) => {
      this.live.delete(worker);
      this.unsignalled.delete(worker);
      const wasReady = this.ready.delete(worker);
      const livedMs = this.clock.nowMs() - startedAtMs;
      if (!this.stopping) this.replace(code, { wasReady, livedMs });
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

  /**
   * Each worker reads `CATALOG_FILE` again. A worker that is starting gets the signal once it listens, because before
   * it may not handle signals yet.
   */
  reload(): void {
    for (const worker of this.live) {
      if (this.ready.has(worker)) worker.process.kill('SIGHUP');
      else this.unsignalled.add(worker);
    }
  }

  giveUp(): void {
    this.gaveUp = true;
    this.onGiveUp();
  }

  private replace(code: number, dead: DeadWorker): void {
    const waitMs = this.replacement.after(dead, this.ready.size);
    this.logger.error({ code, ...dead, wait_ms: waitMs }, 'a worker process died');
    if (waitMs === 'give-up') {
      this.giveUp();
      return;
    }
    setTimeout(() => {
      if (!this.stopping) this.fork(false);
    }, waitMs);
  }
}

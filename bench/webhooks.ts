import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { uuidV7 } from '../src/common/ids/uuid-v7.js';
import { SystemClock } from '../src/common/time/clock.js';
import { createDataSource } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import { WebhookHarness } from '../test/support/webhook-harness.js';
import { type BenchResult, percentile, round } from './result.js';
import { startServer } from './servers/start.js';

const RECEIVERS = 100;
/** A fifth of the receivers. */
const HANGING = 20;
const BACKLOG = 10_000;
const DELIVERABLE = (BACKLOG / RECEIVERS) * (RECEIVERS - HANGING);
const STEADY_PER_SECOND = 200;
const STEADY_SECONDS = 20;
const TICK_MS = 1_000;
const TIMEOUT_MS = 10_000;
/** Attempts to hanging receivers; none of these deliveries reaches its second attempt in this time. */
const PATIENCE_MS = 120_000;
const ACCOUNT = randomUUID();
const TARGETS = {
  'deliveries per second, a fifth of the receivers hanging': '≥ 500',
  'steady load: final state to first attempt, p99 ms': '≤ 2000',
};

const INSERT = `
  INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, sealed_secret, body, due_at, created_at)
  SELECT $1, id, owner, 'http://127.0.0.1:' || port || '/hook', 'http://127.0.0.1:' || port, secret,
         convert_to('{"t":' || $2 || ',"status":"succeeded"}', 'UTF8'), now(), now()
    FROM unnest($3::uuid[], $4::uuid[], $5::int[], $6::text[]) t (id, owner, port, secret)`;

interface Stage {
  readonly dataSource: DataSource;
  readonly harness: WebhookHarness;
  readonly ports: readonly number[];
  arrivals(): Promise<number[]>;
}

/**
 * Deliveries per second of one worker with a backlog, a fifth of which goes to receivers that hang. Then how long a
 * delivery waits for its first attempt under a steady load with the default tick. Deliveries are signed, each over its
 * own connection; receivers run in another process of the same machine, the embedded PostgreSQL with every flush on.
 */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const postgres = await EmbeddedPostgres.start({ dataDir });
  const dataSource = await createDataSource({ url: postgres.url }).initialize();
  const receivers = await startServer('webhook-receivers.ts', RECEIVERS, HANGING);
  try {
    await runMigrations(dataSource);
    const ask = async (path: string) =>
      (await (await fetch(`http://127.0.0.1:${receivers.port}${path}`)).json()) as number[];
    const harness = new WebhookHarness(dataSource, {
      clock: new SystemClock(),
      timeoutMs: TIMEOUT_MS,
      tickMs: TICK_MS,
    });
    const stage = { dataSource, harness, ports: await ask('/'), arrivals: () => ask('/arrivals') };
    const cpu = process.cpuUsage();
    const perSecond = await backlog(stage);
    const { user, system } = process.cpuUsage(cpu);
    await dataSource.query('TRUNCATE webhook_delivery, webhook_attempt');
    const waits = await steady(stage);
    const p99 = percentile(waits, 0.99);
    return {
      name: 'Webhook deliveries',
      figures: {
        'deliveries per second, a fifth of the receivers hanging': round(perSecond, 0),
        'worker CPU per delivery, µs': round((user + system) / DELIVERABLE, 0),
        'steady load: deliveries': waits.length,
        'steady load: final state to first attempt, p50 ms': round(percentile(waits, 0.5), 0),
        'steady load: final state to first attempt, p99 ms': round(p99, 0),
      },
      targets: TARGETS,
      passed: perSecond >= 500 && p99 <= 2_000,
    };
  } finally {
    await receivers.stop();
    await dataSource.destroy();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function backlog(stage: Stage): Promise<number> {
  await enqueue(stage, BACKLOG);
  const startedAt = performance.now();
  const arrived = await whileWorking(stage, async (arrivals) => {
    while (arrivals() < DELIVERABLE && performance.now() - startedAt < PATIENCE_MS) await sleep(20);
  });
  return arrived.length / ((performance.now() - startedAt) / 1_000);
}

function steady(stage: Stage): Promise<number[]> {
  return whileWorking(stage, async () => {
    for (let second = 0; second < STEADY_SECONDS * 10; second += 1) {
      await enqueue(stage, STEADY_PER_SECOND / 10);
      await sleep(100);
    }
    await sleep(2 * TICK_MS);
  });
}

/** Runs a worker on its scheduler, until `work` is done; answers the waits of everything that arrived. */
async function whileWorking(
  stage: Stage,
  work: (arrived: () => number) => Promise<void>,
): Promise<number[]> {
  const waits: number[] = [];
  const worker = stage.harness.worker();
  worker.onApplicationBootstrap();
  const counting = setInterval(() => void stage.arrivals().then((more) => waits.push(...more)), 50);
  await work(() => waits.length);
  clearInterval(counting);
  waits.push(...(await stage.arrivals()));
  await worker.beforeApplicationShutdown();
  return waits;
}

let enqueued = 0;

/** Deliveries for all receivers in turn. */
async function enqueue({ dataSource, harness, ports }: Stage, count: number): Promise<void> {
  const turn = enqueued;
  enqueued += count;
  const numbers = Array.from({ length: count }, (_, n) => n);
  const now = Date.now();
  const owners = numbers.map(() => randomUUID());
  await dataSource.query(INSERT, [
    ACCOUNT,
    String(now),
    numbers.map(() => uuidV7(now)),
    owners,
    numbers.map((n) => ports[(n + turn) % ports.length]),
    owners.map((owner) => harness.secrets.seal('a secret of the caller', owner)),
  ]);
}

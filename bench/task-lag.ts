import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import { MAX_GROWTH } from '../src/tasks/worker/poll-pace.js';
import { type BenchResult, percentile, round } from './result.js';
import { FINISHED_TASKS, fillTasks, OPEN_TASKS } from './servers/full-tables.js';
import { startJobGateway } from './servers/job-gateway.js';
import { startServer } from './servers/start.js';

/** BENCH_LAG_SECONDS=120 measures for two minutes. */
const SECONDS = Number(process.env.BENCH_LAG_SECONDS ?? 300);
/** Of a task as old as these, so that each is polled every 40 s in the middle. */
const INTERVAL_MS = 40_000;
const SAMPLE_MS = 250;

/** How late polls become at the pace of the defaults, with full tables: 100,000 open tasks make 2,500 polls a second due. */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir });
  const upstream = await startServer('running-jobs.ts');
  const upstreamUrl = `http://127.0.0.1:${upstream.port}`;
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    await fillTasks(dataSource, upstreamUrl, INTERVAL_MS / 1_000);
    const { lags, polled } = await lagsOf(dataSource, server.url, upstreamUrl);
    const worst = Math.max(...lags);
    return {
      name: 'task-lag',
      figures: {
        'open tasks': OPEN_TASKS,
        'finished tasks': FINISHED_TASKS,
        'polls due per second': (OPEN_TASKS / INTERVAL_MS) * 1_000,
        'seconds measured': SECONDS,
        'polls per second': round(polled / SECONDS, 0),
        'lag p50 s': round(percentile(lags, 0.5)),
        'lag p99 s': round(percentile(lags, 0.99)),
        'worst lag s': round(worst),
      },
      targets: { 'worst lag s': '≤ 5' },
      passed: worst <= 5,
    };
  } finally {
    await dataSource.destroy();
    await upstream.stop();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function lagsOf(dataSource: DataSource, databaseUrl: string, upstreamUrl: string) {
  const gateway = await startJobGateway(databaseUrl, upstreamUrl, {
    TASK_POLL_INTERVAL_MS: String(Math.round(INTERVAL_MS / MAX_GROWTH)),
  });
  const lags: number[] = [];
  const begunBefore = await polls(dataSource);
  const endMs = performance.now() + SECONDS * 1_000;
  try {
    while (performance.now() < endMs) {
      lags.push(await lagSeconds(dataSource));
      await sleep(SAMPLE_MS);
    }
    return { lags, polled: (await polls(dataSource)) - begunBefore };
  } finally {
    await gateway.stop();
  }
}

/** How long the poll that is due longest has been waiting. */
async function lagSeconds(dataSource: DataSource): Promise<number> {
  const [row] = await dataSource.query<{ lag: number }[]>(
    `SELECT greatest(0, extract(epoch FROM now() - min(due_at)))::float8 AS lag
       FROM task_work WHERE lane = 'poll/elevenlabs'`,
  );
  return row?.lag ?? 0;
}

/** Polls that were ever begun. */
async function polls(dataSource: DataSource): Promise<number> {
  const [row] = await dataSource.query<{ begun: number }[]>(
    `SELECT sum(fence)::float8 AS begun FROM task_work`,
  );
  return row?.begun ?? 0;
}

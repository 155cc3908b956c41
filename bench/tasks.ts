import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Catalog } from '../src/catalog/catalog.js';
import { createDataSource } from '../src/platform/database/data-source.js';
import { EmbeddedPostgres } from '../src/platform/database/embedded/embedded-postgres.js';
import { runMigrations } from '../src/platform/database/run-migrations.js';
import { LANE_CONCURRENCY } from '../src/tasks/task-lane.js';
import type { TaskRequest } from '../src/tasks/submission/task-request.js';
import { TaskWorkRepository } from '../src/tasks/worker/task-work.repository.js';
import { TaskSubmission } from '../src/tasks/submission/task-submission.js';
import { TaskWorker } from '../src/tasks/worker/task-worker.js';
import { fundedAccount } from '../test/support/test-ledger.js';
import { type BenchResult, median, percentile, round } from './result.js';
import { FINISHED_TASKS, fillTasks, OPEN_TASKS } from './servers/full-tables.js';
import { startJobGateway } from './servers/job-gateway.js';
import { startServer } from './servers/start.js';

const CALLERS = 64;
const SECONDS = 10;
/** Submissions and inserts take turns, so that what else the server does meets both alike. */
const ROUNDS = 5;
const ROUND_MS = 1_000;
/** Claims that find a full room. */
const CLAIMS = Math.min(150, Math.floor(OPEN_TASKS / LANE_CONCURRENCY.poll));
const TARGETS = {
  'polls per second': '≥ 3000',
  'submissions per bare insert': '≥ 0.5',
  'plan of the claim': 'the same',
};

/** Polls and claims with full tables and everything due at once; submissions against a bare insert, on one connection pool. */
export async function run(): Promise<BenchResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'shim-bench-'));
  await chmod(dataDir, 0o755);
  const server = await EmbeddedPostgres.start({ dataDir });
  const upstream = await startServer('running-jobs.ts');
  const upstreamUrl = `http://127.0.0.1:${upstream.port}`;
  const dataSource = await createDataSource({ url: server.url }).initialize();
  try {
    await runMigrations(dataSource);
    const emptyPlan = await planOfClaim(dataSource);
    await fillTasks(dataSource, upstreamUrl);
    const figures = await measure(dataSource, server.url, upstreamUrl);
    const isSamePlan = emptyPlan === (await planOfClaim(dataSource));
    return {
      name: 'tasks',
      figures: {
        'open tasks': OPEN_TASKS,
        'finished tasks': FINISHED_TASKS,
        ...figures,
        'plan of the claim': isSamePlan ? 'the same' : 'another',
      },
      targets: TARGETS,
      passed:
        isSamePlan &&
        figures['polls per second'] >= 3_000 &&
        figures['submissions per bare insert'] >= 0.5,
    };
  } finally {
    await dataSource.destroy();
    await upstream.stop();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure(dataSource: DataSource, databaseUrl: string, upstreamUrl: string) {
  const gateway = await startJobGateway(databaseUrl, upstreamUrl, {
    TASK_TICK_MS: '86400000',
    TASK_POLL_INTERVAL_MS: '3600000',
  });
  const { app } = gateway;
  try {
    const claimsMs = await claims(app.get(TaskWorkRepository), dataSource);
    const pollsPerSecond = await polls(app.get(TaskWorker), dataSource);
    const catalog = app.get<Catalog>(Catalog);
    const requests = await Promise.all(
      Array.from({ length: CALLERS }, async () =>
        requestOf(catalog, await fundedAccount(dataSource, 1_000_000_000n)),
      ),
    );
    const prepared = {
      input: { name: 'bench', plan: 'accept' },
      details: {},
      quote: { amountMicroUsd: 1n, basis: null },
      route: { provider: 'elevenlabs', upstreamModel: 'dubbing_v1' },
    };
    const submission = app.get(TaskSubmission);
    await dataSource.query(`CREATE TABLE bare (id uuid PRIMARY KEY, account uuid, body json)`);
    const [submitted, inserted] = await inTurns(
      (caller) => submission.submit(requestFor(requests, caller), () => Promise.resolve(prepared)),
      () =>
        dataSource.query(`INSERT INTO bare VALUES ($1, $2, $3)`, [
          randomUUID(),
          randomUUID(),
          '{}',
        ]),
    );
    return {
      'polls per second': Math.round(pollsPerSecond),
      'claim of a full room p50 ms': round(percentile(claimsMs, 0.5)),
      'claim of a full room p99 ms': round(percentile(claimsMs, 0.99)),
      'submissions per second': Math.round(submitted),
      'bare inserts per second': Math.round(inserted),
      'submissions per bare insert': round(submitted / inserted),
    };
  } finally {
    await gateway.stop();
  }
}

async function claims(statements: TaskWorkRepository, dataSource: DataSource): Promise<number[]> {
  const times: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim += 1) {
    const startedMs = performance.now();
    await statements.claim({ available: new Map(), inUse: [], runningIds: [], leaseMs: 3_600_000 });
    times.push(performance.now() - startedMs);
  }
  await dataSource.query(
    `SET statement_timeout = 0; UPDATE task_work SET due_at = now() WHERE due_at > now(); RESET statement_timeout`,
  );
  return times;
}

async function polls(worker: TaskWorker, dataSource: DataSource): Promise<number> {
  const startedMs = performance.now();
  const ticking = worker.tick();
  await Promise.race([ticking, sleep(SECONDS * 1_000)]);
  const seconds = (performance.now() - startedMs) / 1_000;
  const [row] = await dataSource.query<{ polled: number }[]>(
    `SELECT count(*)::integer AS polled FROM task_work WHERE due_at > now() + interval '10 minutes'`,
  );
  await worker.drain(5_000);
  return (row?.polled ?? 0) / seconds;
}

function requestFor(requests: readonly TaskRequest[], caller: number): TaskRequest {
  const request = requests[caller];
  if (!request) throw new Error('every caller has a request');
  return request;
}

type Work = (caller: number) => Promise<unknown>;

/** How often both are done per second: the medians of rounds in turns. */
async function inTurns(first: Work, second: Work): Promise<[number, number]> {
  const figures: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    figures[0].push(await perSecond(first));
    figures[1].push(await perSecond(second));
  }
  return [median(figures[0]), median(figures[1])];
}

async function perSecond(work: Work): Promise<number> {
  let done = 0;
  const startedMs = performance.now();
  const call = async (caller: number): Promise<void> => {
    while (performance.now() < startedMs + ROUND_MS) {
      await work(caller);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  return (done / (performance.now() - startedMs)) * 1_000;
}

function requestOf(catalog: Catalog, accountId: string): TaskRequest {
  const row = catalog.find('aud-dubbing-v1');
  if (!row) throw new Error('the model is in the catalog');
  const caller = { apiKeyId: randomUUID(), accountId };
  return {
    call: { executionId: randomUUID(), caller, endpoint: '/v1/audio/dubbing', row, routes: [] },
    kind: 'job',
    body: {},
    idempotencyKey: undefined,
    webhook: undefined,
  } as unknown as TaskRequest;
}

/** How the candidates of a claim are found, under the settings of its function and without the numbers. */
function planOfClaim(dataSource: DataSource): Promise<string> {
  return dataSource.transaction(async (manager) => {
    await manager.query(`SET LOCAL enable_seqscan = off`);
    const rows = await manager.query<Record<string, string>[]>(
      `EXPLAIN (COSTS OFF) SELECT account_id, task_id FROM task_work
        WHERE lane = 'poll/elevenlabs' AND due_at <= now() ORDER BY due_at LIMIT 256 FOR UPDATE SKIP LOCKED`,
    );
    return rows.map((row) => Object.values(row).join()).join('\n');
  });
}

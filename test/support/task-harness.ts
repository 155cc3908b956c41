import { randomUUID } from 'node:crypto';
import type { Caller } from '../../src/auth/caller.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { quoteOfSeconds } from '../../src/catalog/price-rule.js';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { DAY_MS } from '../../src/common/time/spans.js';
import { StoredFiles } from '../../src/platform/storage/stored-files.js';
import type { Task } from '../../src/tasks/task.js';
import { TaskKinds } from '../../src/tasks/task-kinds.js';
import { TaskRepository } from '../../src/tasks/reads/task.repository.js';
import { TaskSubmission } from '../../src/tasks/submission/task-submission.js';
import type { PreparedTask, TaskRequest } from '../../src/tasks/submission/task-request.js';
import { TaskWorker } from '../../src/tasks/worker/task-worker.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { FileJobKind, JobKind } from './job-kind.js';
import { JobProvider, type SubmitPlan } from './job-provider.js';

/** Seconds for which every job is charged. */
export const JOB_SECONDS = 5n;
/** Price of every job, in micro-USD. */
export const JOB_PRICE = 12_500n;

/** What a test may change in a submission. */
export interface JobSubmission {
  readonly plan?: SubmitPlan;
  readonly kind?: 'job' | 'file-job';
  readonly name?: string;
  readonly key?: string;
  readonly body?: object;
  readonly webhook?: TaskRequest['webhook'];
  readonly endpoint?: string;
  readonly apiKeyId?: string;
  readonly price?: bigint;
  readonly prepare?: () => Promise<PreparedTask>;
}

/** A gateway whose tasks are jobs of a stub provider, and whose worker moves only when a test says so. */
export interface TaskHarness {
  readonly gateway: TestGateway;
  readonly provider: JobProvider;
  readonly worker: TaskWorker;
  readonly files: FileJobKind;
  submit(account: TestAccount, submission?: JobSubmission): Promise<Task>;
  /** Takes one step of every task that is due. */
  step(): Promise<void>;
  /** Makes all work due now. */
  hurry(): Promise<void>;
  /** {@link hurry} and {@link step}, so many times. */
  run(times?: number): Promise<void>;
  /** Makes the task older than it is. */
  age(task: Task, ms: number): Promise<void>;
  /** Makes the submission a day old, which is past the deadline. */
  overdue(task: Task): Promise<void>;
  read(task: Task): Promise<Task>;
  /** What GET answers. */
  get(account: TestAccount, task: Task, headers?: Record<string, string>): Promise<Response>;
  stop(): Promise<void>;
}

/** Starts one; call `stop` in `afterAll`. `settings` may depend on where the database is; jobs wait so long for answers of the provider. */
export async function startTaskHarness(
  settings: (databaseUrl: string) => NodeJS.ProcessEnv = () => ({}),
  answerMs?: number,
): Promise<TaskHarness> {
  return openHarness(await JobProvider.start(), settings, true, answerMs);
}

/** Another gateway on the database and the provider of a harness; stop it before the first. */
export function startBeside(
  harness: TaskHarness,
  settings: NodeJS.ProcessEnv = {},
): Promise<TaskHarness> {
  const all = { DATABASE_URL: harness.gateway.config.databaseUrl, ...settings };
  return openHarness(harness.provider, () => all, false);
}

async function openHarness(
  provider: JobProvider,
  settings: (databaseUrl: string) => NodeJS.ProcessEnv,
  isOwner: boolean,
  answerMs?: number,
): Promise<TaskHarness> {
  const gateway = await startTestGateway((databaseUrl) => ({
    ELEVENLABS_API_KEY: 'stub-provider-key',
    ELEVENLABS_BASE_URL: provider.url,
    TASK_TICK_MS: String(DAY_MS),
    ...settings(databaseUrl),
  }));
  const jobs = new JobKind(provider.url, answerMs);
  const files = new FileJobKind(provider.url, gateway.app.get(StoredFiles));
  for (const kind of [jobs, files]) gateway.app.get(TaskKinds).register(kind);
  const worker = gateway.app.get(TaskWorker);
  const reader = gateway.app.get(TaskRepository);
  const submission = gateway.app.get(TaskSubmission);
  const query = (sql: string, values: unknown[] = []) => gateway.dataSource.query(sql, values);
  const harness: TaskHarness = {
    gateway,
    provider,
    worker,
    files,
    submit: (account, asked = {}) =>
      submission.submit(requestOf(gateway, account, asked), asked.prepare ?? prepareOf(asked)),
    async step() {
      await worker.tick();
      await worker.whenIdle();
    },
    async hurry() {
      await query(`UPDATE task_work SET due_at = now() WHERE due_at > now()`);
    },
    async run(times = 1) {
      for (let time = 0; time < times; time += 1) {
        await harness.hurry();
        await harness.step();
      }
    },
    async age(task, ms) {
      await query(`UPDATE task SET created_at = created_at - $2 * interval '1 ms' WHERE id = $1`, [
        task.id,
        ms,
      ]);
    },
    overdue: (task) => harness.age(task, DAY_MS),
    async read(task) {
      const found = await reader.find(task.id, task.accountId);
      if (!found) throw new Error('the task is gone');
      return found;
    },
    get: (account, task, headers = {}) =>
      fetch(`${gateway.url}/v1/tasks/${toPublicId('task', task.id)}`, {
        headers: { ...account.headers, ...headers },
      }),
    async stop() {
      await gateway.stop();
      await jobs.close();
      await files.close();
      if (isOwner) await provider.stop();
    },
  };
  return harness;
}

function requestOf(gateway: TestGateway, account: TestAccount, asked: JobSubmission): TaskRequest {
  const row = gateway.app.get<Catalog>(Catalog).find('aud-dubbing-v1');
  if (!row) throw new Error('the model is in the catalog');
  const caller: Caller = {
    apiKeyId: asked.apiKeyId ?? randomUUID(),
    accountId: account.accountId,
    allowedModels: null,
    requestsPerMinute: null,
    expiresAtMs: null,
    scopes: ['read', 'call'],
  };
  return {
    call: {
      executionId: randomUUID(),
      caller,
      endpoint: asked.endpoint ?? '/v1/audio/dubbing',
      row,
      modelName: row.id,
      routes: row.routes,
    },
    kind: asked.kind ?? 'job',
    body: asked.body ?? { source_url: 'https://media.example/source.mp3' },
    idempotencyKey: asked.key,
    webhook: asked.webhook,
  };
}

function prepareOf({ name = randomUUID(), plan = 'accept', price }: JobSubmission) {
  return (): Promise<PreparedTask> =>
    Promise.resolve({
      input: { name, plan },
      details: { target_language: 'de' },
      quote: quoteOfSeconds(
        { unit: 'measured_second', microUsd: (price ?? JOB_PRICE) / JOB_SECONDS },
        JOB_SECONDS,
      ),
      route: { provider: 'elevenlabs', upstreamModel: 'dubbing_v1' },
    });
}

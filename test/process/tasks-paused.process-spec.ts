import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { VIDEO, VIDEO_PRICE, type Video } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const CREDIT = 10_000_000n;
type Step = 'submit' | 'poll' | 'content';

let database: TestDatabase;
let provider: StubUpstream;
let receiver: WebhookReceiver;
let settings: NodeJS.ProcessEnv;
let file: Buffer;
/** The step whose first answer waits, and that answer. */
let heldStep: Step;
let held: ServerResponse | undefined;
/** What the provider says of the job. */
let state: string;
/** The id of the job of the test: no provider gives one twice. */
let jobId: string;
let jobs = 0;

const job = (status: string) => JSON.stringify({ id: jobId, object: 'video', status });

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await StubUpstream.start();
  receiver = await startWebhookReceiver();
  file = await drawVideo({ prompt: 'The sea', width: 64, height: 48, seconds: 1 });
  provider.reply = (response, { method, url }) => {
    const step = method === 'POST' ? 'submit' : url.endsWith('/content') ? 'content' : 'poll';
    response.setHeader('content-type', step === 'content' ? 'video/mp4' : 'application/json');
    if (step === heldStep && held === undefined) held = response;
    else if (step === 'content') response.end(file);
    else response.end(job(step === 'submit' ? 'queued' : state));
  };
  settings = {
    ...receiver.settings,
    DATABASE_URL: database.url,
    STORAGE_URL: `file://${await temporaryFolder()}`,
    VIDEO_API_KEY: 'stub-provider-key',
    VIDEO_BASE_URL: provider.url,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([provider.stop(), receiver.stop(), database.drop()]);
}, PROCESS_TEST_TIMEOUT_MS);

interface Paused {
  readonly paused: GatewayProgram;
  readonly headers: Readonly<Record<string, string>>;
  readonly id: string;
}

/** A gateway that stands still while the provider has the request of this step, and whose leases have ended. */
async function pausedAt(step: Step): Promise<Paused> {
  heldStep = step;
  held = undefined;
  jobId = `video_${(jobs += 1)}`;
  state = 'completed';
  provider.seen.length = 0;
  receiver.received.length = 0;
  const paused = await startGatewayProgram(settings);
  const { headers } = await paused.account(CREDIT);
  const body = { ...VIDEO, prompt: 'The sea', webhook: receiver.url };
  const { id } = (await postJson(`${paused.url}/v1/videos`, headers, body)).json as Video;
  await until(() => held !== undefined);
  paused.child.kill('SIGSTOP');
  await database.dataSource.query(`UPDATE task_work SET due_at = least(due_at, now())`);
  return { paused, headers, id };
}

/** Lets the paused gateway go on with this answer, and ends it when it has done all that it wanted. */
async function resumeWith({ paused }: Paused, answer: string | Buffer): Promise<void> {
  held?.end(answer);
  paused.child.kill('SIGCONT');
  // A drain waits for every step that is under way.
  expect(await paused.end('SIGTERM')).toMatchObject({ code: 0 });
}

/** What clients and the books say. */
async function outcome(url: string, { headers, id }: Paused): Promise<unknown> {
  const { json } = await send(`${url}/v1/tasks/${id}`, { headers });
  const account = (await send(`${url}/v1/account`, { headers })).json as Record<string, string>;
  expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
  return {
    task: json,
    available: account.available_microusd,
    held: account.held_microusd,
    submissions: provider.seen.filter(({ method }) => method === 'POST').length,
    webhooks: receiver.received.length,
    stored: await database.dataSource.query(`SELECT state FROM stored_file`),
  };
}

describe('a gateway that is paused beyond its lease, and resumes', () => {
  it.each<[string, Step, () => string | Buffer]>([
    ['polls, and then hears of a failure', 'poll', () => job('failed')],
    ['polls, and then hears of the success again', 'poll', () => job('completed')],
    ['fetches the file, and then gets it', 'content', () => file],
    ['fetches the file, and then gets none', 'content', () => 'none'],
  ])(
    'changes nothing where it %s',
    async (_when, step, answer) => {
      await database.dataSource.query('DELETE FROM stored_file');
      const stopped = await pausedAt(step);
      const other = await startGatewayProgram(settings);
      await until(() => receiver.received.length > 0);
      const before = await outcome(other.url, stopped);
      expect(before).toMatchObject({
        task: { status: 'completed' },
        available: String(CREDIT - VIDEO_PRICE),
        held: '0',
        submissions: 1,
        webhooks: 1,
        stored: [{ state: 'stored' }],
      });
      await resumeWith(stopped, answer());
      expect(await outcome(other.url, stopped)).toEqual(before);
      await other.end('SIGKILL');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'does not end the task that another one polls, where it hears of a failure',
    async () => {
      const stopped = await pausedAt('poll');
      state = 'in_progress';
      const polls = () => provider.seen.filter(({ method }) => method === 'GET').length;
      const other = await startGatewayProgram(settings);
      await until(() => polls() > 2);
      await resumeWith(stopped, job('failed'));
      expect(await outcome(other.url, stopped)).toMatchObject({
        task: { status: 'in_progress' },
        held: String(VIDEO_PRICE),
        webhooks: 0,
      });
      state = 'completed';
      await until(() => receiver.received.length > 0);
      expect(await outcome(other.url, stopped)).toMatchObject({
        task: { status: 'completed' },
        available: String(CREDIT - VIDEO_PRICE),
        webhooks: 1,
      });
      await other.end('SIGKILL');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'adds the id of the job and nothing else where it submits',
    async () => {
      const stopped = await pausedAt('submit');
      // A final report decides the outcome; that is the end of this test.
      state = 'in_progress';
      const other = await startGatewayProgram(settings);
      const unknown = `SELECT provider_job_id FROM task WHERE status = 'reconciliation_required'`;
      const tasks = () => database.dataSource.query<object[]>(unknown);
      await until(async () => (await tasks()).length > 0);
      expect(await tasks()).toEqual([{ provider_job_id: null }]);
      const before = await outcome(other.url, stopped);
      expect(before).toMatchObject({
        available: String(CREDIT - VIDEO_PRICE),
        held: String(VIDEO_PRICE),
        submissions: 1,
        webhooks: 0,
      });
      await resumeWith(stopped, job('queued'));
      expect(await outcome(other.url, stopped)).toEqual(before);
      expect(await tasks()).toEqual([{ provider_job_id: jobId }]);
      state = 'completed';
      await until(() => receiver.received.length > 0);
      expect(await outcome(other.url, stopped)).toMatchObject({
        task: { status: 'completed' },
        available: String(CREDIT - VIDEO_PRICE),
        held: '0',
        submissions: 1,
        webhooks: 1,
      });
      await other.end('SIGKILL');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

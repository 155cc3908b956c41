import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { JobView } from '../../src/sandbox/jobs/job-board.js';
import { silentWav } from '../support/dubbing-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { postJson, send } from '../support/http-answer.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const CREDIT = 10_000_000n;
const LOOK_MS = 20;
const SECRET = 'a-secret-of-the-receiver';
/** Work that is not done while a test runs. */
const ENDLESS = '[[sandbox:task-ms=600000]]';
/** A job that reports failure at once, and success after so long. */
const regretting = (ms: number): string =>
  `[[sandbox:task-ms=0]][[sandbox:task-fails]][[sandbox:late-success=${ms}]]`;
const FIRST_REGRET_MS = 1_500;

interface TaskAnswer {
  readonly id: string;
  readonly status: string;
  readonly progress: number | null;
}

let receiver: WebhookReceiver;
let host: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  host = await StubUpstream.start();
  host.reply = (response) => response.end(silentWav(1));
  gateway = await startTestGateway({
    EGRESS_ALLOW: `127.0.0.1:${new URL(host.url).port},${receiver.settings.EGRESS_ALLOW}`,
    TASK_TICK_MS: '50',
    // Longer than the tests: the provider is polled when they say so.
    TASK_POLL_INTERVAL_MS: '60000',
    TASK_DEADLINE_MS: '6000000',
  });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([receiver.stop(), host.stop()]);
});
beforeEach(async () => {
  account = await gateway.account(CREDIT);
});

type Surface = readonly [kind: string, path: string, body: (words: string) => object];
const VIDEO: Surface = [
  'video',
  '/v1/videos',
  (words) => ({ model: 'vid-motion', prompt: `The sea ${words}`, seconds: '5' }),
];
const SONG: Surface = [
  'song',
  '/v1/music/generations',
  (words) => ({ model: 'song-music', prompt: `The sea ${words}`, instrumental: false }),
];
const DUB: Surface = [
  'dubbing',
  '/v1/audio/dubbing',
  (words) => ({
    model: 'aud-dubbing-v1',
    source_url: `${host.url}/${words}.wav`,
    target_language: 'fr',
  }),
];

async function submit(path: string, body: object): Promise<string> {
  const secret = path === '/v1/videos' ? {} : { webhook_secret: SECRET };
  const sent = { ...body, ...secret, webhook: receiver.url };
  const answer = await postJson(`${gateway.url}${path}`, account.headers, sent);
  expect(answer.status < 300 ? '' : answer.bytes.toString()).toBe('');
  return (answer.json as TaskAnswer).id;
}

async function read(id: string): Promise<TaskAnswer> {
  const answer = await send(`${gateway.url}/v1/tasks/${id}`, { headers: account.headers });
  return answer.json as TaskAnswer;
}

/** Polls the provider about every task of this phase until the fact holds. Leases, which are shorter, stay. */
async function pollUntil(
  phase: 'polling' | 'watching',
  fact: () => Promise<boolean>,
): Promise<void> {
  while (!(await fact())) {
    await gateway.dataSource.query(
      `UPDATE task_work SET due_at = now() WHERE phase = $1 AND due_at > now() + interval '40 s'`,
      [phase],
    );
    await sleep(LOOK_MS);
  }
}

/** The job that the provider accepted last. */
const newestJob = async (): Promise<JobView | undefined> => (await gateway.sandbox?.jobs(1))?.[0];

const toldOf = (id: string): TaskAnswer[] =>
  receiver.received
    .map(({ body }) => JSON.parse(body.toString()) as TaskAnswer)
    .filter((told) => told.id === id);

async function lateSuccesses(kind: string): Promise<number> {
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const line = new RegExp(`late_successes_total\\{kind="${kind}"\\} (\\d+)`).exec(metrics);
  return Number(line?.[1] ?? 0);
}

/** Submits a task whose job fails, and succeeds later; returns once the task has failed. */
async function failed([, path, body]: Surface): Promise<string> {
  // On a machine so slow that it sees only the success, the job regrets later.
  for (let regretMs = FIRST_REGRET_MS; ; regretMs *= 2) {
    account = await gateway.account(CREDIT);
    const id = await submit(path, body(regretting(regretMs)));
    await pollUntil('polling', async () =>
      /failed|succeeded|completed/.test((await read(id)).status),
    );
    if ((await read(id)).status === 'failed') return id;
  }
}

describe('a job that reports a progress of 101', () => {
  it.each([
    [100, 'in_progress', VIDEO],
    // The adapter reads percentages as text and does not believe this one.
    [null, 'processing', SONG],
  ] as const)('has the progress %s and is not done by that', async (progress, status, surface) => {
    const [, path, body] = surface;
    const earlier = await newestJob();
    const id = await submit(path, body(`${ENDLESS}[[sandbox:task-progress=101]]`));
    // The answer to the first poll is stored before there is a second.
    await pollUntil('polling', async () => {
      const job = await newestJob();
      return job?.id !== earlier?.id && (job?.polls ?? 0) > 1;
    });
    expect(await read(id)).toMatchObject({ status, progress });
    expect(toldOf(id)).toEqual([]);
    const { held, entries } = await gateway.balance(account.accountId);
    expect({ isHeld: held > 0n, entries }).toEqual({ isHeld: true, entries: 1 });
  });
});

describe('a job that succeeds after it has failed', () => {
  it.each([VIDEO, SONG, DUB])(
    'is counted, and the task stays as it was: %s',
    async (...surface) => {
      const [kind] = surface;
      const id = await failed(surface);
      const before = { task: await read(id), successes: await lateSuccesses(kind) };
      while ((await newestJob())?.phase !== 'done') await sleep(LOOK_MS);
      await pollUntil('watching', async () => (await lateSuccesses(kind)) > before.successes);
      expect(await lateSuccesses(kind)).toBe(before.successes + 1);
      expect(await read(id)).toEqual(before.task);
      expect(before.task.status).toBe('failed');
      expect(await gateway.balance(account.accountId)).toEqual({
        available: CREDIT,
        held: 0n,
        entries: 1,
      });
      const deliveries = `SELECT count(*)::int AS count FROM webhook_delivery WHERE account_id = $1`;
      expect(await gateway.dataSource.query(deliveries, [account.accountId])).toEqual([
        { count: 1 },
      ]);
    },
  );
});

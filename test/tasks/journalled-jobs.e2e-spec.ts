import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Reversals } from '../../src/billing/recovery/reversals.js';
import type { UnrecordedJob } from '../../src/billing/recovery/reversal.js';
import type { TestAccount } from '../support/gateway.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

type Query = (config: { readonly name?: string }, ...rest: unknown[]) => Promise<unknown>;

let harness: TaskHarness;
let account: TestAccount;
let pool: Pool;
let query: Query;

beforeAll(async () => {
  harness = await startTaskHarness();
  ({ master: pool } = harness.gateway.app.get(DataSource).driver as unknown as { master: Pool });
  query = pool.query.bind(pool);
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account();
});
afterEach(() => {
  Object.assign(pool, { query });
});

/** Jobs in the journal of this process. */
async function journalled(): Promise<UnrecordedJob[]> {
  const folder = join(harness.gateway.config.dataDir, 'owed');
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as UnrecordedJob);
}

/** What writes the job id to the database: the report, and each second the reversal in the journal. */
const WRITES = new Set(['task_advance', 'task_keep_job_v2']);

/** From the acceptance by the provider on, what stores the id of the job waits for this. */
function storingWaitsFor(answer: (send: () => Promise<unknown>) => Promise<unknown>): void {
  Object.assign(pool, {
    query: ((config, ...rest) => {
      const send = () => query(config, ...rest);
      const isWrite = WRITES.has(config.name ?? '') && harness.provider.jobs.size > 0;
      return isWrite ? answer(send) : send();
    }) satisfies Query,
  });
}

describe('the id of an accepted job that the database is long about', () => {
  it('is on disk as well before the database has it, and both name the same job', async () => {
    const task = await harness.submit(account, { name: 'slow' });
    const gate = new EventTarget();
    const opened = new Promise((resolve) => {
      gate.addEventListener('open', resolve, { once: true });
    });
    storingWaitsFor(async (send) => {
      await opened;
      return send();
    });
    const step = harness.step();
    // However long the timer takes to come, both wait longer.
    let found: UnrecordedJob[];
    while ((found = await journalled()).length === 0) await sleep(20);
    const [jobId] = [...harness.provider.jobs.keys()];
    expect(found).toEqual([
      {
        taskId: task.id,
        accountId: account.accountId,
        jobId,
        watchLane: 'watch/elevenlabs',
        watchMs: expect.any(Number),
      },
    ]);
    expect(await harness.read(task)).toMatchObject({ status: 'queued', providerJobId: null });

    gate.dispatchEvent(new Event('open'));
    await step;
    expect(await harness.read(task)).toMatchObject({ status: 'processing', providerJobId: jobId });
    await harness.gateway.app.get(Reversals).flush();
    expect(await journalled()).toEqual([]);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded', providerJobId: jobId });
    expect(harness.provider.submissions.get('slow')).toBe(1);
  });
});

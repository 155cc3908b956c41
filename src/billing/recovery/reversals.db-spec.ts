import { randomUUID } from 'node:crypto';
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  balanceOf,
  FAILURE,
  freshFolder,
  fundedAccount,
  ledgerOf,
  endLease,
  startOf,
  trust,
} from '../../../test/support/test-ledger.js';
import type { ExecutionStart } from '../calls/execution-commands.js';

const FUNDS = 1_000_000n;

describe('the reversals of a dead process', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('are made after one that fails, which stays on disk', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, FUNDS);
    const start = startOf(accountId, 10n);
    const dataDir = freshFolder();
    const dead = ledgerOf(dataSource, { dataDir });
    await dead.process.heartbeat();
    await dead.owed.addDurably({ taskId: randomUUID(), accountId });
    await dead.executions.begin(start);
    const { executionId, apiKeyId, model, endpoint } = start;
    const error = { errorCode: 'service_unavailable', provider: null, providerRequestId: null };
    await dead.owed.addDurably({ executionId, accountId, apiKeyId, model, endpoint, ...error });

    const next = ledgerOf(dataSource, { dataDir });
    next.owed.setTaskEnder(() => Promise.reject(new Error('no such kind of task')));
    await next.process.heartbeat();
    await trust(dataSource, next);
    await endLease(dataSource, dead);
    expect(await next.owed.recoverFromDeadProcesses()).toBe(1);
    expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS, 0n]);
    expect(await next.owed.recoverFromDeadProcesses()).toBe(0);
    next.owed.setTaskEnder(() => Promise.resolve());
    expect(await next.owed.recoverFromDeadProcesses()).toBe(1);
    expect(await readdir(join(dataDir, 'owed'))).toEqual([]);
  });

  it('are made where possible: damaged lines are moved aside, and a reversal without effect is not counted', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, FUNDS);
    const dataDir = freshFolder();
    const dead = ledgerOf(dataSource, { dataDir });
    await dead.process.heartbeat();
    const owedOf = ({ executionId, apiKeyId, model, endpoint }: ExecutionStart) => ({
      ...{ executionId, accountId, apiKeyId, model, endpoint },
      ...{ errorCode: 'service_unavailable', provider: null, providerRequestId: null },
    });
    const [held, done] = [startOf(accountId, 10n), startOf(accountId, 20n)];
    await dead.executions.begin(held);
    await dead.executions.begin(done);
    await dead.executions.fail(done, FAILURE);
    await dead.owed.addDurably(owedOf(done));
    const path = join(dataDir, 'owed', `${dead.process.id}.jsonl`);
    await appendFile(path, '{"executionId":"to');
    await dead.owed.addDurably(owedOf(held));

    const next = ledgerOf(dataSource, { dataDir });
    await next.process.heartbeat();
    await trust(dataSource, next);
    await endLease(dataSource, dead);
    expect(await next.owed.recoverFromDeadProcesses()).toBe(1);
    expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS, 0n]);
    const [aside = '', ...others] = await readdir(join(dataDir, 'owed'));
    expect([aside, others]).toEqual([expect.stringMatching(/\.unreadable$/), []]);
    expect(await readFile(join(dataDir, 'owed', aside), 'utf8')).toBe('{"executionId":"to\n');
  });

  it('are on disk as soon as the disk accepts writes', async () => {
    const { dataSource } = database;
    const dataDir = freshFolder();
    // No folder can be made where a file is.
    await writeFile(join(dataDir, 'owed'), '');
    const { owed, process } = ledgerOf(dataSource, { dataDir });
    owed.setTaskEnder(() => Promise.reject(new Error('not yet')));
    const task = { taskId: randomUUID(), accountId: randomUUID() };
    await owed.addDurably(task);
    await rm(join(dataDir, 'owed'));
    await owed.tick();
    const text = await readFile(join(dataDir, 'owed', `${process.id}.jsonl`), 'utf8');
    expect(JSON.parse(text.trim())).toEqual(task);
  });

  it('include the job id of a task whose process died before it was stored', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, FUNDS);
    const taskId = randomUUID();
    await dataSource.query(
      `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                         upstream_model, reserved, status)
       VALUES ($1, $2, 'song', 'audio', 'm', '{}', 'p', '', true, 'm', 1, 'queued')`,
      [accountId, taskId],
    );
    const dataDir = freshFolder();
    const dead = ledgerOf(dataSource, { dataDir });
    const watch = { watchLane: 'watching:p', watchMs: 1_000 };
    await dead.owed.addDurably({ taskId, accountId, jobId: 'job-7', ...watch });
    const next = ledgerOf(dataSource, { dataDir });
    await next.process.heartbeat();
    await trust(dataSource, next);
    expect(await next.owed.recoverFromDeadProcesses()).toBe(1);
    const rows = await dataSource.query<unknown[]>(
      `SELECT provider_job_id FROM task WHERE id = $1`,
      [taskId],
    );
    expect(rows).toEqual([{ provider_job_id: 'job-7' }]);
  });
});

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ageRows } from '../../test/support/age-rows.js';
import { MovingAccount } from '../../test/support/moving-account.js';
import {
  balanceOf,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../test/support/test-ledger.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { reversalsOnDisk } from '../billing/recovery/reversal-journal.js';
import { Tracing } from '../platform/observability/tracing.js';
import { TaskRepository } from '../tasks/reads/task.repository.js';
import { SubmitStatement } from '../tasks/submission/submit-statement.js';
import type { Task } from '../tasks/task.js';

describe('the export of an account', () => {
  let move: MovingAccount;
  beforeEach(async () => {
    move = await MovingAccount.make();
  });
  afterEach(() => move.drop());

  it('is refused while it is open or in use', async () => {
    await expect(move.export()).rejects.toThrow('not disabled');
    await move.close();
    const holdId = startOf(move.accountId, 1n).executionId;
    await new LedgerService(move.from.dataSource).hold(move.from.dataSource, {
      accountId: move.accountId,
      holdId,
      amountMicroUsd: 1n,
      owner: 'task',
    });
    await expect(move.export()).rejects.toThrow('1 holds are open');
    await new LedgerService(move.from.dataSource).release(
      move.from.dataSource,
      move.accountId,
      holdId,
    );
    await ageRows(move.from.dataSource, 1);
    await move.export();
  });

  it('refuses calls and tasks that were admitted before it, as those of a disabled account, and holds nothing', async () => {
    await move.close();
    await move.export();
    const { dataSource } = move.from;
    const { accountId } = move;
    const { process, executions, owed } = ledgerOf(dataSource);
    await process.heartbeat();
    const neighbour = startOf(await fundedAccount(dataSource, 100n, 'other'), 100n);
    const calls = [startOf(accountId, 100n), neighbour].map((start) => executions.begin(start));
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: 'rejected', reason: { code: 'account_disabled', status: 403 } },
      { status: 'fulfilled', value: { outcome: 'held' } },
    ]);
    const reads = new TaskRepository(dataSource);
    const statement = new SubmitStatement(dataSource, owed, reads, process, new Tracing());
    const task = { id: startOf(accountId, 1n).executionId, accountId } as Task;
    const values = [
      ...[accountId, task.id, null, 'video', 'video', 'm', null, '', '{}', 'vendor', '', false],
      ...['v', 'waiting:vendor', '100', null, null, null, null, null, '/v1/videos', null, null],
      ...[false, null, null, null, null, null, null, null],
    ];
    const submitted = statement.run(task, values, { hasKey: false, endpoint: '/v1/videos' });
    await expect(submitted).rejects.toMatchObject({ code: 'account_disabled' });
    expect([owed.size, process.openCalls]).toEqual([0, 1]);
    expect(await balanceOf(dataSource, accountId)).toMatchObject({ 1: 0n });
  });

  it('waits for what a living process may owe, and for the journals of its data folder', async () => {
    const { dataSource } = move.from;
    const { process, executions, owed } = ledgerOf(dataSource, { dataDir: move.folder });
    await process.heartbeat();
    const start = startOf(move.accountId, 100n);
    await executions.begin(start);
    await executions.succeed(start, successOf(100n));
    await move.close();
    // It has not said since the last call of the account that nothing of before is open.
    await expect(move.export()).rejects.toThrow('Processes still have calls');
    await ageRows(dataSource, 1);
    await owed.addDurably({
      ...{ executionId: start.executionId, accountId: move.accountId, apiKeyId: null },
      ...{ model: start.model, endpoint: start.endpoint, errorCode: 'internal_error' },
      ...{ provider: null, providerRequestId: null },
    });
    await expect(move.export()).rejects.toThrow('1 reversals of the account are owed');
    await owed.tick();
    await ageRows(dataSource, 1);
    await move.export();
    const { receipt } = await move.import();
    await move.end(receipt);
    const [left] = await move.to.dataSource.query<{ status: string }[]>(
      'SELECT status FROM execution WHERE id = $1',
      [start.executionId],
    );
    expect(left).toEqual({ status: 'failed' });
  });

  it('leaves a reversal that comes too late to an operator, and gives nothing back for it', async () => {
    const { dataSource } = move.from;
    const { owed, process } = ledgerOf(dataSource, { dataDir: move.folder });
    await process.heartbeat();
    const [call] = await dataSource.query<{ id: string }[]>(
      `SELECT id FROM execution WHERE account_id = $1 AND charged > 0 LIMIT 1`,
      [move.accountId],
    );
    const reversal = {
      ...{ executionId: call?.id ?? '', accountId: move.accountId, apiKeyId: null, model: 'm' },
      ...{ endpoint: '/v1', errorCode: 'internal_error', provider: null, providerRequestId: null },
    };
    await move.close();
    await move.export();
    // Of a process that ended on another machine: here the account only moves, so it is kept.
    const journal = join(move.folder, 'owed', `${randomUUID()}.jsonl`);
    await mkdir(join(move.folder, 'owed'));
    await writeFile(journal, `${JSON.stringify(reversal)}\n`);
    await dataSource.query(`UPDATE gateway_process SET unbroken_since = now() - interval '1 day'`);
    expect(await owed.recoverFromDeadProcesses()).toBe(0);
    expect(await reversalsOnDisk(move.folder)).toEqual([reversal]);
    const { receipt } = await move.import();
    await move.end(receipt);
    expect(await owed.recoverFromDeadProcesses()).toBe(0);
    expect(await reversalsOnDisk(move.folder)).toEqual([]);
    const names = await readdir(join(move.folder, 'owed'));
    expect(names).toEqual([expect.stringMatching(/[.]unreadable$/)]);
    expect((await move.audit(move.from)).ok).toBe(true);
    // Of a process that lives: it is put aside before the journal forgets it, and a second one beside it.
    const next = { ...reversal, executionId: randomUUID() };
    for (const owedNow of [reversal, next]) {
      await owed.addDurably(owedNow);
      await owed.tick();
      expect(owed.size).toBe(0);
    }
    const read = (name: string) => readFile(join(move.folder, 'owed', name), 'utf8');
    expect(await read(`${process.id}.jsonl`)).toBe('');
    const aside = (await read(`${process.id}.jsonl.unreadable`)).split('\n').filter(Boolean);
    expect(aside.map((line) => JSON.parse(line) as unknown)).toEqual([reversal, next]);
  });

  it('waits for what a living process may owe for a task, which no call of the account is later than', async () => {
    const { dataSource } = move.from;
    const { process } = ledgerOf(dataSource, { dataDir: move.folder });
    await process.heartbeat();
    await move.close();
    const [{ at } = { at: '' }] = await dataSource.query<{ at: string }[]>(
      `SELECT (max(created_at) + interval '1 second')::text AS at FROM execution WHERE account_id = $1`,
      [move.accountId],
    );
    await dataSource.query('UPDATE gateway_process SET oldest_open_at = $1', [at]);
    await dataSource.query(
      `UPDATE task SET created_at = $2::timestamptz + interval '1 second' WHERE account_id = $1`,
      [move.accountId, at],
    );
    await expect(move.export()).rejects.toThrow('Processes still have calls');
    await dataSource.query(`UPDATE gateway_process SET oldest_open_at = now()`);
    await move.export();
  });

  it('is refused while files, responses or answers are promised, unless they are left behind', async () => {
    const { dataSource } = move.from;
    const [file, response, answer] = [randomUUID(), randomUUID(), randomUUID()];
    const of = (id: string) => [move.accountId, id];
    await dataSource.query(
      `INSERT INTO stored_file (account_id, id, owner_id, state, content_type, size_bytes, created_at, expires_at)
         VALUES ($1, $2, $2, 'stored', 'video/mp4', 7, now(), '2100-01-02 03:04Z')`,
      of(file),
    );
    await dataSource.query(
      `INSERT INTO stored_response (account_id, id, expires_at, items, output_items, bytes, sealed_response)
         VALUES ($1, $2, '2100-01-02 03:04Z', '{}', 0, 1, 's')`,
      of(response),
    );
    await dataSource.query(
      `INSERT INTO kept_answer (account_id, id, expires_at, content_type, headers, bytes, sealed_answer)
         VALUES ($1, $2, '2100-01-02 03:04Z', 'text/plain', '{}', 1, 's')`,
      of(answer),
    );
    await move.close();
    const until = 'until 2100-01-02 03:04 UTC';
    await expect(move.export()).rejects.toThrow(
      `does not move: 1 stored files ${until}, 1 stored responses ${until}, 1 kept answers ${until}.`,
    );
    for (const table of ['stored_response', 'kept_answer']) {
      await dataSource.query(`UPDATE ${table} SET expires_at = now() - interval '1 second'`);
    }
    await expect(move.export()).rejects.toThrow(`does not move: 1 stored files ${until}. Wait`);
    await dataSource.query(
      `INSERT INTO task_work (account_id, task_id, lane, phase) SELECT account_id, id, 'watch/video', 'watching' FROM task WHERE account_id = $1`,
      [move.accountId],
    );
    await dataSource.query(`UPDATE task SET completed_at = '2100-01-02 03:04Z'`);
    await expect(move.export()).rejects.toThrow(
      '1 late results of tasks that ended without one may still come until 2100-01-09 03:04 UTC.',
    );
    expect(await move.export('file', { withoutContent: true })).toMatchObject({
      ...{ storedFiles: 1, storedBytes: '7', webhookEndpoints: 0 },
    });
  });

  it('leaves the calls of other accounts alone that share a statement with a call of the account', async () => {
    await move.close();
    await move.export();
    const { dataSource } = move.from;
    const other = await fundedAccount(dataSource, 1_000n);
    const { executions, process } = ledgerOf(dataSource);
    await process.heartbeat();
    const starts = [other, move.accountId, other].map((id) => startOf(id, 100n));
    const begun = await Promise.allSettled(starts.map((start) => executions.begin(start)));
    expect(begun.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

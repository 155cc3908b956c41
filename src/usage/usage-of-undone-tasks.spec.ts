import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { LedgerService } from '../billing/ledger.service.js';
import { timeOrderedUuid } from '../common/ids/time-ordered-uuid.js';
import { SystemClock } from '../common/time/clock.js';
import type { Ticker } from '../ticker/ticker.js';
import { UsageReports } from './usage-reports.js';
import { UsageRollup } from './usage-rollup.js';

const IDLE_TICKER = { start: () => undefined } as unknown as Ticker;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('the charge of a task that was undone is taken from what its key and model used, before and after it is folded', async () => {
  const { dataSource } = database;
  const ledger = new LedgerService(dataSource, new SystemClock());
  const reports = new UsageReports(dataSource);
  const rollup = new UsageRollup(dataSource, IDLE_TICKER);
  const { id: accountId } = await ledger.createAccount('undone');
  const credit = { amountMicroUsd: 1_000n, idempotencyKey: 'a', reference: null };
  await ledger.credit({ accountId, ...credit });
  const keyId = randomUUID();
  const taskId = timeOrderedUuid(Date.now());
  await dataSource.query(
    `SELECT task_submit($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    [accountId, taskId, keyId],
  );
  await dataSource.query(
    `SELECT task_end($1, $2, NULL, '{queued}', 'succeeded', 'settle', 200, NULL, NULL, '{}', NULL, NULL, NULL, now(), NULL,
       NULL, false)`,
    [accountId, taskId],
  );
  expect(await reports.chargedTo(accountId, keyId)).toBe(200n);
  expect(
    await dataSource.query('SELECT task_cancel($1, $2) AS outcome', [accountId, taskId]),
  ).toEqual([{ outcome: 'reversed' }]);
  const byModel = () =>
    reports.rows({
      groupBy: ['model', 'endpoint'],
      fromDay: '2020-01-01',
      toDay: '2100-01-01',
      accountId,
      apiKeyId: undefined,
      model: undefined,
      limit: 10,
      offset: 0,
    });
  for (let fold = 0; fold < 3; fold++) {
    expect(await reports.chargedTo(accountId, keyId)).toBe(0n);
    expect(await byModel()).toMatchObject([
      { model: 'tune-music', endpoint: '/v1/music/generations', calls: '1', charged: '0' },
    ]);
    await rollup.tick(0);
  }
});

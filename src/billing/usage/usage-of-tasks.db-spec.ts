import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { endTask } from '../../../test/support/end-task.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { ReversalRepository } from '../recovery/reversal.repository.js';

let desk: UsageDesk;
beforeAll(async () => {
  desk = await UsageDesk.open();
});
afterAll(() => desk.close());

/** A charged task of 200 micro-USD; version 0.1.0 names no endpoint when there is no idempotency key. */
async function charged(accountId: string, kind: string, endpoint: string | null): Promise<string> {
  const taskId = uuidV7(Date.now());
  await desk.dataSource.query(
    `SELECT task_submit($1, $2, NULL, $3, 'video', 'm', NULL, '', '{}', 'sandbox', '', true, 'm',
       'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, $4, NULL, NULL)`,
    [accountId, taskId, kind, endpoint],
  );
  await endTask(desk.dataSource, accountId, taskId, 200);
  return taskId;
}

const byEndpoint = (accountId: string) => desk.rowsBy(accountId, 'endpoint');

describe('usage of a task', () => {
  it.each([
    ['lip-sync', '/v1/videos/lip-sync', '/v1/videos/lip-sync'],
    ['video', '/v1/videos', '/v1/videos'],
    ['video', null, '/v1/videos'],
    ['song', null, '/v1/music/generations'],
    ['dubbing', null, '/v1/audio/dubbing'],
  ])('counts a %s task of endpoint %s at %s, before and after folding', async (kind, own, path) => {
    const { dataSource } = desk;
    const accountId = await fundedAccount(dataSource, 1_000n);
    await charged(accountId, kind, own);
    for (let fold = 0; fold < 3; fold++) {
      expect(await byEndpoint(accountId)).toMatchObject([
        { endpoint: path, calls: '1', charged: '200' },
      ]);
      await desk.rollup.tick(0);
    }
  });

  it.each([
    [{ kind: 'lip-sync', endpoint: '/v1/videos/lip-sync' }, '/v1/videos/lip-sync'],
    [{ kind: 'song' }, '/v1/music/generations'],
  ])('takes back at its endpoint what the journal says of %o', async (bought, path) => {
    const { dataSource } = desk;
    const accountId = await fundedAccount(dataSource, 1_000n);
    const taskId = await charged(accountId, 'song', path);
    const told = { apiKeyId: null, model: 'm', ...bought };
    const reversals = new ReversalRepository(dataSource);
    expect(await reversals.cancel({ taskId, accountId, bought: told })).toBe('reversed');
    expect(
      await dataSource.query('SELECT endpoint, model FROM late_reversal WHERE id = $1', [taskId]),
    ).toEqual([{ endpoint: path, model: 'm' }]);
    expect(await byEndpoint(accountId)).toMatchObject([{ endpoint: path, charged: '0' }]);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { ledgerOf, startOf, successOf } from '../../test/support/test-ledger.js';
import { PlayMoneyOfSandboxes1700000000470 as PlayMoney } from './migrations/0470-play-money-of-sandboxes.migration.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';

describe('the accounts of a gateway when only play money buys the work of the sandbox', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const accountId = uuidV7(Date.now());

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    await dataSource.query(`INSERT INTO account (id, name) VALUES ($1, 'old')`, [accountId]);
    await dataSource.query(`SELECT ledger_credit($1, 10000, 'credit', 'start', NULL)`, [accountId]);
  });
  afterAll(() => database.drop());

  /** Whether the account has play money after the migration, in the state that `fill` makes. */
  async function isMarked(fill: (dataSource: DataSource) => Promise<unknown>): Promise<boolean> {
    await dataSource.query('UPDATE account SET play_money = false');
    await fill(dataSource);
    const runner = dataSource.createQueryRunner();
    await new PlayMoney().up(runner).finally(() => runner.release());
    const [row] = await dataSource.query<{ play_money: boolean }[]>(
      'SELECT play_money FROM account WHERE id = $1',
      [accountId],
    );
    return row?.play_money === true;
  }

  async function call(provider: string): Promise<void> {
    const { executions } = ledgerOf(dataSource);
    const start = startOf(accountId, 100n);
    await executions.begin(start);
    await executions.succeed(start, { ...successOf(60n), provider });
  }

  const task = (provider: string, onSandbox: boolean) =>
    dataSource.query(
      `INSERT INTO task (account_id, id, kind, modality, model, sealed_input, details, provider, provider_base_url,
                         on_sandbox, upstream_model, reserved)
       VALUES ($1, $2, 'song', 'audio', 'tune-music', '', '{}', $3, '', $4, 'm', 100)`,
      [accountId, uuidV7(Date.now()), provider, onSandbox],
    );

  it('have play money where no provider was ever used (G-110)', async () => {
    expect(await isMarked(() => Promise.resolve())).toBe(true);
    expect(await isMarked(() => call('sandbox'))).toBe(true);
    expect(await isMarked(() => task('ttapi', true))).toBe(true);
  });

  it('keep their real money where a provider did a task, did a call, or nobody knows any more', async () => {
    expect(await isMarked(() => task('ttapi', false))).toBe(false);
    await dataSource.query('DELETE FROM task');
    await dataSource.query(
      `INSERT INTO dropped_record (account_id, until_id, records, charged) VALUES ($1, $2, 1, 1)`,
      [accountId, randomUUID()],
    );
    expect(await isMarked(() => Promise.resolve())).toBe(false);
    await dataSource.query('DELETE FROM dropped_record');
    expect(await isMarked(() => call('openai'))).toBe(false);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { ledgerOf } from '../../test/support/test-ledger.js';
import { auditLedger } from '../billing/audit/audit.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { createDataSource } from './data-source.js';
import { MIGRATIONS } from './migration-list.js';
import { runMigrations } from './run-migrations.js';

/** The last migration of the version whose calls were two rows, a hold and an execution. */
const LAST_OF_BEFORE = 30;
const numberOf = ({ name }: { name: string }): number => Number(name.slice(-13)) % 1_000;

describe('the books of a gateway whose calls were two rows', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const accountId = uuidV7(Date.now());
  const [settled, released, open, reversed, task, ended] = Array.from({ length: 6 }, () =>
    uuidV7(Date.now()),
  ) as [string, string, string, string, string, string];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    await dataSource.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const before = createDataSource({ url: database.url, poolSize: 1 });
    const migrations = MIGRATIONS.filter((each) => numberOf(each) <= LAST_OF_BEFORE);
    before.setOptions({ migrations: [...migrations] });
    await runMigrations(await before.initialize());
    await fill(before);
    await before.destroy();
    await runMigrations(dataSource);
  });
  afterAll(() => database.drop());

  async function fill(before: DataSource): Promise<void> {
    const processId = randomUUID();
    await before.query(`INSERT INTO account (id, name) VALUES ($1, 'old')`, [accountId]);
    await before.query(`SELECT ledger_credit($1, 1000, 'credit', 'start', NULL)`, [accountId]);
    await before.query(
      `SELECT execution_begin($1, $2::uuid[], '{100,100,100,100}', array_fill(now() + interval '1 hour', '{4}'),
         array_fill(NULL::uuid, '{4}'), array_fill('aud-v4'::text, '{4}'), array_fill('/v1/audio/speech'::text, '{4}'), $3)`,
      [accountId, [settled, released, open, reversed], processId],
    );
    await before.query(
      `SELECT execution_finish($1, $2::uuid[], '{60,NULL,70}', '{NULL,provider_timeout,NULL}', '{p,p,p}', '{r,r,r}')`,
      [accountId, [settled, released, reversed]],
    );
    await before.query(`SELECT execution_reverse($1, $2, 'service_unavailable')`, [
      accountId,
      reversed,
    ]);
    await before.query(
      `SELECT ledger_hold($1, $2::uuid[], '{50,20}', '{task,task}', '{NULL,NULL}', NULL)`,
      [accountId, [task, ended]],
    );
    await before.query(`SELECT ledger_resolve($1, ARRAY[$2::uuid], '{20}')`, [accountId, ended]);
  }

  it('are exact after the migration, call by call', async () => {
    expect(await auditLedger(dataSource, 'full')).toMatchObject({
      ok: true,
      discrepancies: [],
      postedMicroUsd: 920n,
      heldMicroUsd: 150n,
    });
    const { reads } = ledgerOf(dataSource);
    expect(await reads.find(settled)).toMatchObject({
      status: 'succeeded',
      heldMicroUsd: 100n,
      chargedMicroUsd: 60n,
      providerRequestId: 'r',
      basis: null,
    });
    expect(await reads.find(released)).toMatchObject({ errorCode: 'provider_timeout' });
    expect(await reads.find(reversed)).toMatchObject({ status: 'failed', heldMicroUsd: 100n });
    const { items } = await new LedgerService(dataSource).entries(accountId, {
      limit: 10,
    });
    expect(items.map(({ kind, holdId, holdOwner }) => [kind, holdId, holdOwner])).toEqual([
      ['charge', ended, 'task'],
      ['correction', reversed, null],
      ['charge', reversed, null],
      ['charge', settled, null],
      ['credit', null, null],
    ]);
  });

  it('let the call of an ended process be swept and the hold of a task be settled', async () => {
    const judge = ledgerOf(dataSource, { leaseMs: 200 });
    await dataSource.query(`UPDATE gateway_process SET lease_ms = 200`);
    await judge.process.onModuleInit();
    while ((await judge.sweeper.tick()) === 0) await new Promise((done) => setTimeout(done, 50));
    await judge.process.beforeApplicationShutdown();
    expect(await judge.reads.find(open)).toMatchObject({ errorCode: 'process_lost' });
    const ledger = new LedgerService(dataSource);
    await ledger.settle(dataSource, accountId, task, 50n);
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true, heldMicroUsd: 0n });
  });
});

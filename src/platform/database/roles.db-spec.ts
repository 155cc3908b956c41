import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { auditLedger } from '../../billing/audit/audit.js';
import { LedgerService } from '../../billing/ledger/ledger.service.js';
import { Database } from './database.js';

const ROLE = `shim_run_${randomUUID().replaceAll('-', '')}`;
const INSUFFICIENT_PRIVILEGE = { code: '42501' };
const RESTRICT_VIOLATION = { code: '23001' };

describe('A gateway that runs as another role than the owner of its tables', () => {
  let owner: TestDatabase;
  let gateway: Database;
  let dataSource: DataSource;
  const holdId = randomUUID();

  beforeAll(async () => {
    owner = await createTestDatabase();
    await owner.dataSource.query(`CREATE ROLE ${ROLE} LOGIN`);
    const url = new URL(owner.url);
    url.username = ROLE;
    gateway = new Database({
      databaseUrl: url.href,
      migrationDatabaseUrl: owner.url,
      dataDir: '/nonexistent',
      poolSize: 4,
    });
    dataSource = await gateway.open();
  });
  afterAll(async () => {
    await gateway.close();
    await owner.dataSource.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
    await owner.drop();
  });

  it('holds, charges, resolves and audits', async () => {
    const ledger = new LedgerService(dataSource);
    const accountId = await fundedAccount(dataSource, 1_000n);
    const { process, executions } = ledgerOf(dataSource);
    await process.heartbeat();
    const start = startOf(accountId, 120n);
    expect(await executions.begin(start)).toMatchObject({ outcome: 'held' });
    await executions.succeed(start, successOf(120n));
    const hold = { accountId, holdId, amountMicroUsd: 50n, owner: 'task' };
    expect(await ledger.hold(dataSource, hold)).toBe('held');
    await ledger.settle(dataSource, accountId, holdId, 40n);
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true, postedMicroUsd: 840n });
  });

  it.each([
    'ALTER TABLE ledger_entry DISABLE TRIGGER USER',
    'ALTER TABLE hold DISABLE TRIGGER USER',
    "SET session_replication_role = 'replica'",
    'DROP TABLE ledger_entry',
    'TRUNCATE execution',
    'UPDATE ledger_entry SET amount = amount + 1',
    'DELETE FROM ledger_entry',
    'DELETE FROM hold',
    'DELETE FROM execution',
    'UPDATE operator_action SET actor = NULL',
    'UPDATE operator_outcome SET outcome = NULL',
    'DELETE FROM operator_outcome',
    'DELETE FROM migration',
    'CREATE TABLE extra (id int)',
  ])('is refused: %s', async (statement) => {
    await expect(dataSource.query(statement)).rejects.toMatchObject(INSUFFICIENT_PRIVILEGE);
  });

  it('cannot change a resolved hold', async () => {
    const change = dataSource.query('UPDATE hold SET settled_amount = 1 WHERE id = $1', [holdId]);
    await expect(change).rejects.toMatchObject(RESTRICT_VIOLATION);
  });
});

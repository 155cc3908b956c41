import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { accountsOf } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import type { Accounts } from '../accounts/accounts.js';
import { LedgerService } from './ledger.service.js';

const owner = 'task';

describe('LedgerService', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let accounts: Accounts;
  let ledger: LedgerService;
  let accountId: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    accounts = accountsOf(dataSource);
    ledger = new LedgerService(dataSource);
  });
  beforeEach(async () => {
    accountId = (await accounts.create('test')).id;
  });
  afterAll(() => database.drop());

  const credit = (amountMicroUsd: bigint, idempotencyKey: string = randomUUID()) =>
    ledger.credit({ accountId, amountMicroUsd, idempotencyKey, reference: 'note' });
  const balance = async (): Promise<bigint[]> => {
    const account = await accounts.get(accountId);
    return [account.postedMicroUsd, account.heldMicroUsd, account.availableMicroUsd];
  };

  it('creates an account with a balance of 0 and finds it', async () => {
    expect(await accounts.get(accountId)).toMatchObject({ name: 'test', postedMicroUsd: 0n });
    await expect(accounts.get(randomUUID())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('lists accounts newest first, page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await accounts.list({ limit: 2, cursor: cursor ?? undefined });
      seen.push(...page.items.map((account) => account.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual([...seen].sort().reverse());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toContain(accountId);
  });

  it('refuses a credit above the largest balance, and repeats a credit of the same key', async () => {
    const most = 1_000_000_000_000_000n;
    const first = await credit(most, 'most');
    await expect(credit(1n)).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      param: 'amount_microusd',
    });
    expect(await credit(most, 'most')).toEqual({ ...first, isReplay: true });
    await credit(-1n);
    expect(await credit(1n)).toMatchObject({ amountMicroUsd: 1n });
  });

  it('credits once for a key and returns the same entry again', async () => {
    const entries = await Promise.all([
      credit(500n, 'key'),
      credit(500n, 'key'),
      credit(500n, 'key'),
    ]);
    const first = entries.find(({ isReplay }) => isReplay !== true);
    expect(first).toMatchObject({ kind: 'credit', amountMicroUsd: 500n, reference: 'note' });
    const replay = { ...first, isReplay: true };
    expect(entries.filter((entry) => entry !== first)).toEqual([replay, replay]);
    expect(await balance()).toEqual([500n, 0n, 500n]);
    await expect(credit(501n, 'key')).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  it('corrects at most down to the held amount', async () => {
    await credit(100n);
    await ledger.hold(dataSource, { accountId, holdId: randomUUID(), amountMicroUsd: 30n, owner });
    await expect(credit(-71n)).rejects.toMatchObject({ code: 'conflict', status: 409 });
    expect(await credit(-70n)).toMatchObject({
      kind: 'correction',
      amountMicroUsd: -70n,
      balanceAfterMicroUsd: 30n,
    });
    expect(await balance()).toEqual([30n, 30n, 0n]);
  });

  it('lists entries newest first with the balance after each', async () => {
    for (const amount of [100n, 20n, -5n]) await credit(amount);
    const first = await ledger.entries(accountId, { limit: 2 });
    const rest = await ledger.entries(accountId, { limit: 2, cursor: first.nextCursor! });
    expect(
      [...first.items, ...rest.items].map((entry) => [
        entry.amountMicroUsd,
        entry.balanceAfterMicroUsd,
      ]),
    ).toEqual([
      [-5n, 115n],
      [20n, 120n],
      [100n, 100n],
    ]);
    expect(rest.nextCursor).toBeNull();
  });

  it('commits a hold, a settlement or a release with the transaction it is part of', async () => {
    await credit(100n);
    const [settled, released] = [randomUUID(), randomUUID()];
    await dataSource.transaction(async (manager) => {
      await ledger.hold(manager, { accountId, holdId: settled, amountMicroUsd: 60n, owner });
      await ledger.hold(manager, { accountId, holdId: released, amountMicroUsd: 40n, owner });
    });
    expect(await balance()).toEqual([100n, 100n, 0n]);
    const undone = dataSource.transaction(async (manager) => {
      await ledger.settle(manager, accountId, settled, 60n);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await balance()).toEqual([100n, 100n, 0n]);
    await ledger.settle(dataSource, accountId, settled, 50n);
    await ledger.release(dataSource, accountId, released);
    expect(await balance()).toEqual([50n, 0n, 50n]);
    await expect(ledger.release(dataSource, accountId, settled)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('refuses a hold above the balance, a charge above its hold and an unknown account', async () => {
    await credit(100n);
    const holdId = randomUUID();
    const hold = (amountMicroUsd: bigint, id = holdId, account = accountId) =>
      ledger.hold(dataSource, { accountId: account, holdId: id, amountMicroUsd, owner });
    expect(await hold(101n)).toBe('insufficient');
    expect(await hold(100n)).toBe('held');
    expect(await hold(100n)).toBe('held');
    await expect(hold(99n)).rejects.toMatchObject({ code: 'conflict' });
    await expect(hold(0n, randomUUID())).rejects.toThrow('hold amount must be positive');
    await expect(hold(1n, randomUUID(), randomUUID())).rejects.toMatchObject({ code: 'not_found' });
    await expect(ledger.settle(dataSource, accountId, holdId, 101n)).rejects.toThrow('excess');
    expect(await balance()).toEqual([100n, 100n, 0n]);
  });

  it('never changes or deletes an entry', async () => {
    await credit(1n);
    for (const statement of [
      'UPDATE ledger_entry SET amount = 2',
      'DELETE FROM ledger_entry',
      'TRUNCATE ledger_entry',
    ]) {
      await expect(dataSource.query(statement)).rejects.toThrow('append-only');
    }
  });

  it('keeps the sum of entries equal to the balance while many move it at once', async () => {
    await credit(1_000n);
    await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const holdId = randomUUID();
        if (n % 5 === 0) return credit(BigInt(n + 1));
        if (
          (await ledger.hold(dataSource, { accountId, holdId, amountMicroUsd: 40n, owner })) ===
          'insufficient'
        )
          return;
        if (n % 3 === 0) await ledger.release(dataSource, accountId, holdId);
        else await ledger.settle(dataSource, accountId, holdId, BigInt(n % 41));
      }),
    );
    expect(await auditLedger(dataSource)).toMatchObject({ ok: true });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  accountsOf,
  FAILURE,
  IDLE_TICKER,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { DAY_MS } from '../../common/time/spans.js';
import { CreditExpiry } from './credit-expiry.js';
import { MAX_LOTS, PAID } from '../credit-terms.js';
import { LedgerService } from './ledger.service.js';

describe('credits that are granted or expire', () => {
  let database: TestDatabase;
  let calls: TestLedger;
  let ledger: LedgerService;
  let expiry: CreditExpiry;
  let accountId: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    calls = ledgerOf(database.dataSource);
    await calls.process.heartbeat();
    ledger = new LedgerService(database.dataSource);
    expiry = new CreditExpiry(database.dataSource, IDLE_TICKER);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    accountId = (await accountsOf(database.dataSource).create('credits')).id;
  });

  const tomorrow = () => new Date(Date.now() + DAY_MS);
  const credit = (amountMicroUsd: bigint, terms: Partial<typeof PAID> = {}, key?: string) =>
    ledger.credit({
      accountId,
      amountMicroUsd,
      idempotencyKey: key ?? `k${Math.random()}`,
      reference: null,
      terms: { ...PAID, ...terms },
    });
  /** The time of all credits that expire has come. */
  const endTerms = () =>
    database.dataSource.query(
      `UPDATE credit_lot SET expires_at = clock_timestamp(), look_at = clock_timestamp()
        WHERE account_id = $1 AND expires_at IS NOT NULL AND expires_at > now()`,
      [accountId],
    );
  /** Lets the next tick look again, as it does two seconds later by itself. */
  const tick = async () => {
    await database.dataSource.query(
      'UPDATE credit_lot SET look_at = now() WHERE look_at IS NOT NULL AND expires_at <= now()',
    );
    return expiry.tick();
  };
  const begin = async (amount: bigint) => {
    const start = startOf(accountId, amount);
    expect((await calls.executions.begin(start)).outcome).toBe('held');
    return start;
  };
  /** Kind, amount and granted part of the newest entries, the newest first. */
  const newest = async (limit: number) => {
    const { items } = await ledger.entries(accountId, { limit });
    return items.map(({ kind, amountMicroUsd, grantedMicroUsd }) => [
      kind,
      amountMicroUsd,
      grantedMicroUsd,
    ]);
  };
  const credits = async () =>
    (await accountsOf(database.dataSource).withCredits(accountId)).credits.map(
      ({ kind, remainingMicroUsd, expiresAt }) => [kind, remainingMicroUsd, expiresAt !== null],
    );

  it('are spent before other money: granted before paid, and first what expires first', async () => {
    await credit(10n);
    await credit(10n, { kind: 'granted' });
    await credit(10n, { expiresAt: tomorrow() });
    await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    const orders: unknown[] = [await credits()];
    for (const amount of [15n, 10n, 10n]) {
      await calls.executions.succeed(await begin(amount), successOf(amount));
      orders.push(await credits());
    }
    expect(orders).toEqual([
      [
        ['granted', 10n, true],
        ['granted', 10n, false],
        ['paid', 10n, true],
        ['paid', 10n, false],
      ],
      [
        ['granted', 5n, false],
        ['paid', 10n, true],
        ['paid', 10n, false],
      ],
      [
        ['paid', 5n, true],
        ['paid', 10n, false],
      ],
      [['paid', 5n, false]],
    ]);
    expect(await newest(3)).toEqual([
      ['charge', -10n, 0n],
      ['charge', -10n, -5n],
      ['charge', -15n, -15n],
    ]);
  });

  it('end as an entry that names the credit', async () => {
    const given = await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    await credit(7n);
    await endTerms();
    expect(await expiry.tick()).toBe(1);
    const [entry] = (await ledger.entries(accountId, { limit: 1 })).items;
    expect(entry).toMatchObject({
      kind: 'expiry',
      amountMicroUsd: -10n,
      grantedMicroUsd: -10n,
      balanceAfterMicroUsd: 7n,
      expiredEntryId: given.id,
    });
    expect(await tick()).toBe(0);
  });

  it('stay as far as a running call may spend them; its charge takes them and the rest expires at the next tick', async () => {
    await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    const call = await begin(6n);
    await endTerms();
    expect(await tick()).toBe(1);
    expect(await newest(1)).toEqual([['expiry', -4n, -4n]]);
    expect(await tick()).toBe(0);
    await calls.executions.succeed(call, successOf(5n));
    expect(await newest(1)).toEqual([['charge', -5n, -5n]]);
    expect(await tick()).toBe(1);
    expect(await newest(1)).toEqual([['expiry', -1n, -1n]]);
  });

  it('expire at the next tick after the release of the call that kept them, whatever began since', async () => {
    await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    await credit(50n);
    const kept = await begin(10n);
    await endTerms();
    const later = await begin(20n);
    expect(await tick()).toBe(0);
    await calls.executions.fail(kept, FAILURE);
    expect(await tick()).toBe(1);
    expect(await newest(1)).toEqual([['expiry', -10n, -10n]]);
    await calls.executions.succeed(later, successOf(20n));
    expect(await newest(1)).toEqual([['charge', -20n, 0n]]);
  });

  it('do not pay for a call that began after their end, while one that began before may spend them', async () => {
    await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    await credit(50n);
    const kept = await begin(10n);
    await endTerms();
    await calls.executions.succeed(await begin(20n), successOf(20n));
    expect(await newest(1)).toEqual([['charge', -20n, 0n]]);
    await calls.executions.succeed(kept, successOf(10n));
    expect(await newest(1)).toEqual([['charge', -10n, -10n]]);
  });

  it('are taken by a correction after the paid money, and not as far as they are held', async () => {
    await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    await credit(10n, { kind: 'granted' });
    await credit(5n);
    await begin(8n);
    const take = (amountMicroUsd: bigint) =>
      ledger.credit({
        accountId,
        amountMicroUsd,
        idempotencyKey: `c${amountMicroUsd}`,
        reference: null,
      });
    await expect(take(-18n)).rejects.toThrow('more than the available balance');
    await take(-17n);
    expect(await newest(1)).toEqual([['correction', -17n, -12n]]);
    expect(await credits()).toEqual([['granted', 8n, true]]);
  });

  it('get back what is refunded, the part that was taken last first; an expired one loses it at the next tick', async () => {
    await credit(10n, { kind: 'granted', expiresAt: tomorrow() });
    await credit(50n);
    const call = await begin(30n);
    await calls.executions.succeed(call, successOf(30n));
    await endTerms();
    const refund = (amountMicroUsd?: bigint) =>
      ledger.refund({
        of: 'execution',
        id: call.executionId,
        amountMicroUsd,
        idempotencyKey: `r${amountMicroUsd}`,
        note: null,
      });
    await refund(20n);
    await refund();
    expect(await newest(2)).toEqual([
      ['correction', 10n, 10n],
      ['correction', 20n, 0n],
    ]);
    expect(await expiry.tick()).toBe(1);
    expect(await newest(1)).toEqual([['expiry', -10n, -10n]]);
    expect(await credits()).toEqual([['paid', 50n, false]]);
  });

  it('are credited once for a key, which means the same amount and terms', async () => {
    const terms = {
      kind: 'granted',
      expiresAt: new Date(Math.ceil(Date.now() / 1000) * 1000 + DAY_MS),
    } as const;
    const first = await credit(10n, terms, 'once');
    expect(await credit(10n, terms, 'once')).toMatchObject({ id: first.id, isReplay: true });
    for (const other of [{ ...terms, kind: 'paid' as const }, { ...terms, currency: 'EUR' }, {}]) {
      await expect(credit(10n, other, 'once')).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    }
    await endTerms();
    expect(await credit(10n, terms, 'once')).toMatchObject({ id: first.id, isReplay: true });
  });

  it('are refused where they would be over at once, or where the account has too many', async () => {
    await expect(credit(1n, { expiresAt: new Date(Date.now() - 1_000) })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'expires_at',
    });
    await database.dataSource.query(
      `INSERT INTO credit_lot (account_id, position, is_granted, amount, remaining)
         SELECT $1, -n, true, 1, 1 FROM generate_series(1, $2::int) n`,
      [accountId, MAX_LOTS],
    );
    await expect(credit(1n, { kind: 'granted' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await credit(1n)).toMatchObject({ kind: 'credit' });
    await database.dataSource.query('DELETE FROM credit_lot WHERE account_id = $1', [accountId]);
  });

  it('are counted where a process of version 0.1.0 credits and corrects', async () => {
    await credit(10n, { kind: 'granted' });
    const former = (amount: number, key: string) =>
      database.dataSource.query<unknown[]>(
        `SELECT outcome FROM ledger_credit($1, $2, $3, $4, NULL)`,
        [accountId, amount, amount > 0 ? 'credit' : 'correction', key],
      );
    await former(5, 'up');
    await former(-8, 'down');
    expect(await newest(2)).toEqual([
      ['correction', -8n, -3n],
      ['credit', 5n, 0n],
    ]);
    expect(await credits()).toEqual([['granted', 7n, false]]);
  });
});

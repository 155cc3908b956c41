import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import { ApiKey } from '../../auth/api-key.entity.js';
import { ApiKeysService } from '../../auth/api-keys.service.js';
import type { Caller } from '../../auth/caller.js';
import { SystemClock } from '../../common/time/clock.js';
import { QuotedHolds } from './quoted-hold.js';

const LIMIT = 10_000n;
const TERMS = {
  name: null,
  allowedModels: null,
  expiresAt: null,
  requestsPerMinute: null,
} as const;

let database: TestDatabase;
let keys: ApiKeysService;
beforeAll(async () => {
  database = await createTestDatabase();
  keys = new ApiKeysService(database.dataSource.getRepository(ApiKey), new SystemClock());
});
afterAll(() => database.drop());

const callerOf = (accountId: string, apiKeyId: string, makerId?: string): Caller => ({
  apiKeyId,
  accountId,
  allowedModels: null,
  requestsPerMinute: null,
  expiresAtMs: null,
  scopes: ['read', 'call'],
  spendLimit: { amountMicroUsd: LIMIT, period: 'day' },
  ...(makerId !== undefined && { makerId }),
});

it('a quote takes off what made keys spent, as the hold does, for them and for their maker', async () => {
  const { dataSource } = database;
  const accountId = await fundedAccount(dataSource, 1_000_000n);
  const limit = { ...TERMS, spendLimitMicroUsd: LIMIT, spendLimitPeriod: 'day' } as const;
  const maker = (await keys.issue(accountId, limit)).record.id;
  const [spender, other] = [
    (await keys.issue(accountId, limit, maker)).record.id,
    (await keys.issue(accountId, TERMS, maker)).record.id,
  ];
  const { executions } = ledgerOf(dataSource);
  const spend = async (apiKeyId: string, amount: bigint) => {
    const start = { ...startOf(accountId, amount), apiKeyId, isCapped: true };
    await executions.begin(start);
    await executions.succeed(start, successOf(amount));
  };
  await spend(spender, 7_000n);
  await spend(maker, 1_000n);
  const quotes = new QuotedHolds(dataSource);
  for (const caller of [
    callerOf(accountId, maker),
    callerOf(accountId, spender, maker),
    callerOf(accountId, other, maker),
  ]) {
    const quoted = await quotes.availableTo(caller);
    expect(quoted).toEqual({ outcome: 'over_limit', availableMicroUsd: 2_000n });
    const { apiKeyId } = caller;
    const start = { ...startOf(accountId, 2_001n), apiKeyId, isCapped: true };
    expect(await executions.begin(start)).toEqual(quoted);
  }
});

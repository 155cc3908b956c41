import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FAILURE, fundedAccount, startOf, successOf } from '../../../test/support/test-ledger.js';
import { UsageDesk } from '../../../test/support/usage-desk.js';
import { UsageTokens1700000001036 } from '../../platform/database/migrations/1036-usage-tokens.migration.js';
import { auditBooks } from '../audit/usage-audit.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { TOKEN_SUMS } from '../token-sums.js';
import type { UsageDimension } from './usage-request.js';

const RUNS = 10;
const CREDIT = 1_000_000_000n;

let desk: UsageDesk;
beforeAll(async () => {
  desk = await UsageDesk.open();
});
afterAll(() => desk.close());

type Tokens = readonly [input: number, cached: number, output: number, reasoning: number];

interface PlayedCall {
  readonly tokens: Tokens;
  readonly isChat: boolean;
  readonly end: 'charged' | 'failed' | 'refunded' | 'open';
  readonly foldsAfter: boolean;
}

/** Chats of four kinds of tokens and other things, and how they end. */
const oneCall: fc.Arbitrary<PlayedCall> = fc.record({
  tokens: fc.tuple(fc.nat(1_000), fc.nat(1_000), fc.nat(1_000), fc.nat(1_000)),
  isChat: fc.boolean(),
  end: fc.constantFrom<PlayedCall['end'][]>('charged', 'charged', 'failed', 'refunded', 'open'),
  foldsAfter: fc.boolean(),
});

async function tokensOf(accountId: string, dimension: UsageDimension): Promise<readonly number[]> {
  const rows = await desk.rowsBy(accountId, dimension);
  return TOKEN_SUMS.map((name) => rows.reduce((sum, row) => sum + Number(row[name]), 0));
}

function basisOf([input, cached, output, reasoning]: Tokens, isChat: boolean) {
  const counts = {
    promptTokens: input + cached,
    cachedTokens: cached === 0 ? null : cached,
    completionTokens: output + reasoning,
    reasoningTokens: reasoning === 0 ? null : reasoning,
  };
  return isChat
    ? ({
        unit: 'token',
        quantity: counts,
        unitPrice: { inputPerMillion: '1000000', outputPerMillion: '1000000' },
        isEstimated: false,
      } as const)
    : ({ unit: 'code_point', quantity: 7, unitPrice: '1', isEstimated: false } as const);
}

/** What usage counts of a charged call: whole prompt, cached part, output, reasoning. */
const countedOf = ([input, cached, output, reasoning]: Tokens, isChat: boolean) =>
  isChat ? [input + cached, cached, output + reasoning, reasoning] : [];

/** Plays the calls; returns the tokens of the chats that were charged, whatever was given back of them. */
async function play(accountId: string, history: readonly PlayedCall[]): Promise<number[]> {
  const sums = [0, 0, 0, 0];
  const ledger = new LedgerService(desk.dataSource);
  for (const { tokens, isChat, end, foldsAfter } of history) {
    const start = { ...startOf(accountId, 10_000n), model: isChat ? 'gen-5' : 'aud-v4' };
    await desk.calls.executions.begin(start);
    const basis = basisOf(tokens, isChat);
    const charge = isChat ? BigInt(tokens.reduce((sum, count) => sum + count, 0)) : 7n;
    // By the same route as the others: the sums of that version had no routes.
    const failure = { ...FAILURE, upstreamModel: 'eleven_v3' };
    if (end === 'failed') await desk.calls.executions.fail(start, failure);
    if (end === 'charged' || end === 'refunded') {
      await desk.calls.executions.succeed(start, { ...successOf(charge), basis });
      for (const [index, count] of countedOf(tokens, isChat).entries()) {
        sums[index] = (sums[index] ?? 0) + count;
      }
    }
    if (end === 'refunded' && charge > 0n) {
      await ledger.refund({ of: 'execution', id: start.executionId, note: null });
    }
    if (foldsAfter) await desk.rollup.tick(0);
  }
  return sums;
}

describe('the tokens in usage', () => {
  it('are those of the charged chats, by day and by month, folded or not, for any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(oneCall, { maxLength: 12 }), async (history) => {
        const accountId = await fundedAccount(desk.dataSource, CREDIT);
        const wanted = await play(accountId, history);
        expect(await tokensOf(accountId, 'model')).toEqual(wanted);
        await desk.foldAll();
        expect(await tokensOf(accountId, 'model')).toEqual(wanted);
        expect(await tokensOf(accountId, 'account')).toEqual(wanted);
        expect((await auditBooks(desk.dataSource, 'full')).discrepancies).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('are taken over from the records of calls that an earlier version summed up', async () => {
    const accountId = await fundedAccount(desk.dataSource, CREDIT);
    const chat = { tokens: [30, 20, 7, 5], isChat: true, foldsAfter: true } as const;
    const speech = { ...chat, isChat: false, end: 'charged' } as const;
    const wanted = await play(accountId, [
      { ...chat, end: 'charged' },
      speech,
      { ...chat, end: 'refunded' },
    ]);
    await desk.foldAll();
    await play(accountId, [{ ...chat, end: 'open' }]);
    const sums = () =>
      desk.dataSource.query(
        `SELECT 'day' AS table, account_id, model, ${TOKEN_SUMS.join(', ')} FROM usage_day
         UNION ALL SELECT 'month', account_id, NULL, ${TOKEN_SUMS.join(', ')} FROM usage_month ORDER BY 1, 2, 3`,
      );
    const before = await sums();
    expect(await tokensOf(accountId, 'account')).toEqual(wanted);
    const runner = desk.dataSource.createQueryRunner();
    await runner.connect();
    try {
      await runner.startTransaction();
      for (const table of ['usage_day', 'usage_month']) {
        await runner.query(
          `ALTER TABLE ${table} ${TOKEN_SUMS.map((name) => `DROP COLUMN ${name}`).join(', ')}`,
        );
      }
      await new UsageTokens1700000001036().up(runner);
      await runner.commitTransaction();
    } finally {
      await runner.release();
    }
    expect(await sums()).toEqual(before);
  });
});

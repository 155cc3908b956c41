import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
  type TestLedger,
} from '../../../test/support/test-ledger.js';
import { viewAdminExecution } from '../../admin/views/admin-execution.view.js';
import { viewExecution } from './execution.view.js';

const HELD = 1_000n;
const TOKENS = {
  promptTokens: 5,
  cachedTokens: null,
  completionTokens: 400,
  reasoningTokens: null,
};

describe('the record of a call', () => {
  let database: TestDatabase;
  let ledger: TestLedger;
  let accountId: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    ledger = ledgerOf(database.dataSource);
    accountId = await fundedAccount(database.dataSource, 100n * HELD);
  });
  afterAll(async () => {
    await ledger.owed.beforeApplicationShutdown();
    await database.drop();
  });

  const recorded = async (id: string) => (await ledger.reads.find(id))!;
  const begun = async (isCapped: boolean) => {
    const start = { ...startOf(accountId, HELD), isCapped };
    expect(await ledger.executions.begin(start)).toMatchObject({ outcome: 'held' });
    return start;
  };

  it.each([false, true])(
    "shows a capped charge to callers and operators, and the provider's cost figures to operators (limited key: %s)",
    async (isOfLimitedKey) => {
      const start = await begun(isOfLimitedKey);
      const providerFigures = { 'usage.cost': 0.0012, 'character-cost': '120', quota: 3 };
      // A second step in the same statement, so that the columns of each are its own.
      const other = await begun(isOfLimitedKey);
      const success = { ...successOf(HELD), isCapped: true, providerFigures };
      await Promise.all([
        ledger.executions.succeed(start, success),
        ledger.executions.succeed(other, successOf(1n)),
      ]);
      const execution = await recorded(start.executionId);
      expect(viewExecution(execution)).toMatchObject({ capped: true });
      expect(viewExecution(execution)).not.toHaveProperty('provider_figures');
      expect(viewAdminExecution(execution)).toMatchObject({
        capped: true,
        provider_figures: providerFigures,
        uncharged: null,
      });
      expect(viewAdminExecution(await recorded(other.executionId))).toMatchObject({
        capped: false,
        provider_figures: null,
      });
    },
  );

  it('counts each capped charge and logs one per hour, model and route', async () => {
    const log = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const before = (await ledger.metrics.cappedCharges.get()).values;
    expect(before.every(({ labels }) => labels.model !== 'gen-5')).toBe(true);
    for (const isCapped of [true, false, true]) {
      const start = { ...startOf(accountId, HELD), model: 'gen-5' };
      expect(await ledger.executions.begin(start)).toMatchObject({ outcome: 'held' });
      await ledger.executions.succeed(start, { ...successOf(HELD), isCapped });
    }
    const { values } = await ledger.metrics.cappedCharges.get();
    expect(values).toContainEqual({ labels: { model: 'gen-5' }, value: 2 });
    expect(log.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^exec_\w+: sandbox \(eleven_v3\) generated more of gen-5 .* hold of 1000 /,
        ),
      ],
    ]);
    log.mockRestore();
  });

  it('shows operators the uncharged output of a stream that broke off', async () => {
    const start = await begun(false);
    const uncharged = { unit: 'token', quantity: TOKENS } as const;
    await ledger.executions.fail(start, { ...FAILURE, uncharged, providerFigures: { quota: 1 } });
    const execution = await recorded(start.executionId);
    expect(viewExecution(execution)).not.toHaveProperty('uncharged');
    expect(viewAdminExecution(execution)).toMatchObject({
      charged_microusd: null,
      provider_figures: { quota: 1 },
      uncharged: { unit: 'token', quantity: { prompt_tokens: 5, completion_tokens: 400 } },
    });
  });

  it.each([false, true])(
    'keeps the attempts of each call in the statement that ends it, or shows the one of its figures (limited key: %s)',
    async (isOfLimitedKey) => {
      const attempt = {
        provider: 'first',
        upstreamModel: 'm',
        outcome: 'timeout',
        startMs: 3,
        durationMs: 40,
        firstByteMs: null,
        status: 504,
        code: 'late\0',
        requestId: 'r-1',
      } as const;
      const [plain, moved, failed] = [
        await begun(isOfLimitedKey),
        await begun(isOfLimitedKey),
        await begun(isOfLimitedKey),
      ];
      const attempts = [attempt, { ...attempt, provider: 'second' }];
      await Promise.all([
        ledger.executions.succeed(plain, successOf(1n)),
        ledger.executions.succeed(moved, { ...successOf(1n), attempts }),
        ledger.executions.fail(failed, { ...FAILURE, attempts: [attempt] }),
      ]);
      const shown = async ({ executionId }: typeof plain) =>
        viewAdminExecution(await recorded(executionId)).attempts;
      expect(await shown(plain)).toMatchObject([{ outcome: 'success', start_ms: null }]);
      expect(await shown(moved)).toMatchObject([{ provider: 'first' }, { provider: 'second' }]);
      expect(await shown(failed)).toMatchObject([
        { provider: 'first', outcome: 'timeout', status: 504, code: 'late', start_ms: 3 },
      ]);
      expect(viewExecution(await recorded(failed.executionId))).not.toHaveProperty('attempts');
    },
  );

  it.each([
    ['a NUL', 'refused: \0'],
    ['half of a surrogate pair', `refused: ${'\ud83d\ude00'.slice(0, 1)}`],
  ])(
    "stores the provider's message with %s, and the hold is released at once",
    async (_what, message) => {
      const start = await begun(false);
      const providerFault = { status: 400, code: null, message };
      await ledger.executions.fail(start, { ...FAILURE, providerFault });
      expect(ledger.owed.size).toBe(0);
      expect(viewAdminExecution(await recorded(start.executionId)).provider_error).toMatchObject({
        status: 400,
        message: expect.stringContaining('refused: '),
      });
    },
  );
});

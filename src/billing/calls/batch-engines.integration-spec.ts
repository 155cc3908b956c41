import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type History,
  type HistoryCall,
  histories,
  play,
  type Played,
  type SimulatedDatabase,
} from '../../../test/support/batch-histories.js';
import { Clock } from '../../common/time/clock.js';
import { LOCKED } from '../../platform/database/batching/batcher-options.js';
import { SharedCalls } from '../../platform/database/batching/shared-calls.js';
import { StatementBatcher } from '../../platform/database/batching/statement-batcher.js';
import { isRolledBack, isTransient } from '../../platform/database/database-errors.js';
import { NotCommitted, OutcomeUnknown } from './commit-errors.js';
import { GroupCommit } from './group-commit.js';

const MAX_BATCH = 256;
const NARROW = 8;

class TurnClock extends Clock {
  constructor(private readonly database: SimulatedDatabase) {
    super();
  }
  nowMs(): number {
    return this.database.turn;
  }
}

type Engine = (database: SimulatedDatabase) => (call: HistoryCall) => Promise<number>;

const formerSkip: Engine = (database) => {
  const group = new GroupCommit<{ accountId: string; call: HistoryCall }, number>({
    commit: (items, waits) =>
      database.skipping(
        items.map(({ call }) => call),
        waits,
        undefined,
      ),
    isTransient,
    isRolledBack,
    clock: new TurnClock(database),
  });
  return (call) =>
    group.submit(
      { accountId: call.account, call },
      { patienceMs: call.patienceTurns, isEnd: call.isUrgent },
    );
};

const newSkip: Engine = (database) => {
  const batcher = new StatementBatcher<HistoryCall, number>({
    execute: (calls, waits) => database.skipping(calls, waits, LOCKED),
    groupOf: ({ account }) => account,
    isUrgent: ({ isUrgent }) => isUrgent,
    maxBatch: MAX_BATCH,
    onLocked: 'skip',
    retry: {
      patienceMsOf: ({ patienceTurns }) => patienceTurns,
      nowMs: () => database.turn,
      lateError: (cause, mayBeCommitted) =>
        mayBeCommitted ? new OutcomeUnknown(cause) : new NotCommitted(cause),
    },
  });
  return (call) => batcher.run(call);
};

const WAIT_TERMS = { maxBatch: NARROW, maxStatements: 2 };

const formerWait: Engine = (database) => {
  const calls = new SharedCalls<HistoryCall, number>({
    make: (batch, waits) => database.waiting(batch, waits),
    accountOf: ({ account }) => account,
    ...WAIT_TERMS,
  });
  return (call) => calls.run(call);
};

const newWait: Engine = (database) => {
  const batcher = new StatementBatcher<HistoryCall, number>({
    execute: (batch, waits) => database.waiting(batch, waits),
    groupOf: ({ account }) => account,
    onLocked: 'wait',
    ...WAIT_TERMS,
  });
  return (call) => batcher.run(call);
};

/** What must hold for any engine and any history. */
function expectExact(history: History, { database, outcomes }: Played): void {
  for (const call of history.calls) {
    const outcome = outcomes[call.id];
    const isCommitted = database.committed.includes(call);
    if (outcome === 'done') expect(isCommitted).toBe(true);
    else if (outcome !== 'OutcomeUnknown' && outcome !== 'ECONNRESET')
      expect([outcome, isCommitted]).toEqual([outcome, false]);
    if (call.isBad) expect(outcome).not.toBe('done');
    else expect(outcome).not.toBe('23514');
  }
  expect(new Set(database.committed).size).toBe(database.committed.length);
}

function expectOrder({ database }: Played): void {
  const last = new Map<string, number>();
  for (const { id, account, isUrgent } of database.committed) {
    const lane = `${account} ${isUrgent}`;
    expect(last.get(lane) ?? -1).toBeLessThan(id);
    last.set(lane, id);
  }
}

async function playBoth(history: History, former: Engine, next: Engine): Promise<[Played, Played]> {
  return [await play(history, former), await play(history, next)];
}

const property = (
  kinds: Parameters<typeof histories>[0],
  runs: number,
  check: (history: History) => Promise<void>,
) => fc.assert(fc.asyncProperty(histories(kinds), check), { numRuns: runs });

describe('the former engines and the new one, on the same histories', () => {
  it('skip: the same outcome for each call, whatever fails', async () => {
    await property({ bad: true, faults: true, lockTurns: 60 }, 60, async (history) => {
      const [former, next] = await playBoth(history, formerSkip, newSkip);
      for (const played of [former, next]) expectExact(history, played);
      expect(next.outcomes).toEqual(former.outcomes);
      expect(next.outcomes).toEqual(history.calls.map(({ isBad }) => (isBad ? '23514' : 'done')));
    });
  }, 120_000);

  it('skip: the order of arrival, and no free account is delayed', async () => {
    await property({ bad: false, faults: false, lockTurns: 200 }, 150, async (history) => {
      for (const played of await playBoth(history, formerSkip, newSkip)) {
        expectExact(history, played);
        expectOrder(played);
        for (const call of history.calls) {
          if (!played.database.isEverLocked(call)) expect(played.overtakenBy[call.id]).toBe(0);
        }
      }
    });
  }, 120_000);

  it('skip: exact answers to calls whose patience ends', async () => {
    await property(
      { bad: true, faults: true, lockTurns: 60, impatient: true },
      100,
      async (history) => {
        for (const played of await playBoth(history, formerSkip, newSkip))
          expectExact(history, played);
      },
    );
  }, 120_000);

  it('wait: the same outcome for each call', async () => {
    await property({ bad: true, faults: false, lockTurns: 20 }, 200, async (history) => {
      const [former, next] = await playBoth(history, formerWait, newWait);
      for (const played of [former, next]) expectExact(history, played);
      expect(next.outcomes).toEqual(former.outcomes);
    });
  }, 120_000);

  it('wait: exact answers, whatever fails', async () => {
    await property({ bad: true, faults: true, lockTurns: 200 }, 200, async (history) => {
      const [former, next] = await playBoth(history, formerWait, newWait);
      for (const played of [former, next]) {
        expectExact(history, played);
        expect(played.database.mostRunning).toBeLessThanOrEqual(2 + 4);
      }
      // Bisecting needs fewer statements for one bad call, and twice as many where all are bad.
      const most = 2 * former.database.statements.length + 10;
      expect(next.database.statements.length).toBeLessThanOrEqual(most);
    });
  }, 120_000);

  it('wait: free accounts wait for few statements', async () => {
    await property({ bad: false, faults: false, lockTurns: 200 }, 200, async (history) => {
      for (const { database, overtakenBy } of await playBoth(history, formerWait, newWait)) {
        // Five statements carry all calls, and after a rollback three other accounts are tried one by one.
        for (const call of history.calls) {
          if (!database.isEverLocked(call)) expect(overtakenBy[call.id]).toBeLessThanOrEqual(8);
        }
      }
    });
  }, 120_000);
});

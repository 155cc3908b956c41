import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type History,
  type HistoryCall,
  histories,
  play,
  type Played,
  type SimulatedDatabase,
} from '../../../../test/support/batch-histories.js';
import { LOCKED } from './batcher-options.js';
import { StatementBatcher } from './statement-batcher.js';

const TIMEOUT_MS = 120_000;
const BAD = '23514';
const LOCK_TIMEOUT = '55P03';
const MAX_STATEMENTS = 2;
const MAX_OWN_STATEMENTS = 4;
const MAX_BATCH = 8;

/** As the ledger uses it: locked groups are skipped, transient errors are retried. */
function skipping(database: SimulatedDatabase): (call: HistoryCall) => Promise<number> {
  const batcher = new StatementBatcher<HistoryCall, number>({
    execute: (calls, waits) => database.skipping(calls, waits, LOCKED),
    groupOf: ({ account }) => account,
    isUrgent: ({ isUrgent }) => isUrgent,
    maxBatch: 256,
    onLocked: 'skip',
    retry: {
      patienceMsOf: ({ patienceTurns }) => patienceTurns,
      nowMs: () => database.turn,
      lateError: (_, mayBeCommitted) => (mayBeCommitted ? 'unknown' : 'not committed'),
    },
  });
  return (call) => batcher.run(call);
}

/** As functions of tasks use it: a lock rolls a shared statement back, and callers get transient errors. */
function waiting(database: SimulatedDatabase): (call: HistoryCall) => Promise<number> {
  const batcher = new StatementBatcher<HistoryCall, number>({
    execute: (calls, waits) => database.waiting(calls, waits),
    groupOf: ({ account }) => account,
    maxBatch: MAX_BATCH,
    maxStatements: MAX_STATEMENTS,
    onLocked: 'wait',
  });
  return (call) => batcher.run(call);
}

/** What a call may be told: of one that is committed, and of one that is not. */
interface Truth {
  readonly committed: readonly string[];
  readonly absent: readonly string[];
}

const PLAIN: Truth = { committed: ['done'], absent: [] };

/** Each call was told one thing, which is true; only bad calls are told so, and nothing is committed for them. */
function expectTruth({ calls }: History, { database, outcomes }: Played, truth: Truth): void {
  const told = calls.map((call) => {
    const isCommitted = database.committed.includes(call);
    const allowed = isCommitted ? truth.committed : truth.absent;
    const ofBad = isCommitted ? [] : [BAD, ...truth.absent];
    return { call, outcome: outcomes[call.id], isCommitted, allowed: call.isBad ? ofBad : allowed };
  });
  expect(told.filter(({ outcome, allowed }) => !allowed.includes(outcome ?? ''))).toEqual([]);
}

/** Calls of an account are committed in the order of arrival, urgent ones and others each in theirs. */
function expectOrder({ database }: Played): void {
  const last = new Map<string, number>();
  for (const { id, account, isUrgent } of database.committed) {
    const lane = `${account} ${isUrgent}`;
    expect(last.get(lane) ?? -1).toBeLessThan(id);
    last.set(lane, id);
  }
}

/** No more than `most` shared statements are sent before one carries a call of an account that is never locked. */
function expectNoDelay({ calls }: History, { database, overtakenBy }: Played, most: number): void {
  const delayed = calls.filter(
    (call) => !database.isEverLocked(call) && (overtakenBy[call.id] ?? Infinity) > most,
  );
  expect(delayed).toEqual([]);
}

const forEach = (
  kinds: Parameters<typeof histories>[0],
  numRuns: number,
  check: (history: History) => Promise<void>,
) => fc.assert(fc.asyncProperty(histories(kinds), check), { numRuns });

describe('a batcher that skips locked groups and retries, in random histories of calls, locks and faults', () => {
  it(
    'answers every good call and fails every bad one, whatever breaks',
    async () => {
      await forEach({ bad: true, faults: true, lockTurns: 60 }, 50, async (history) => {
        const played = await play(history, skipping);
        expectTruth(history, played, PLAIN);
        expect(played.outcomes).toEqual(history.calls.map(({ isBad }) => (isBad ? BAD : 'done')));
      });
    },
    TIMEOUT_MS,
  );

  it(
    'keeps the order of a group, puts free groups into the next statement, and sends one at a time',
    async () => {
      await forEach({ bad: false, faults: false, lockTurns: 200 }, 80, async (history) => {
        const played = await play(history, skipping);
        expectTruth(history, played, PLAIN);
        expectOrder(played);
        expectNoDelay(history, played, 0);
        expect(played.database.mostRunning).toBeLessThanOrEqual(1 + MAX_OWN_STATEMENTS);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'says of a call whose patience ends that it is not committed only if it never is',
    async () => {
      const late = { committed: ['done', 'unknown'], absent: ['unknown', 'not committed'] };
      await forEach(
        { bad: true, faults: true, lockTurns: 60, impatient: true },
        80,
        async (history) => {
          expectTruth(history, await play(history, skipping), late);
        },
      );
    },
    TIMEOUT_MS,
  );
});

describe('a batcher whose statements wait for locks, in random histories of calls, locks and faults', () => {
  it(
    'answers every good call and fails every bad one while locks are short',
    async () => {
      await forEach({ bad: true, faults: false, lockTurns: 9 }, 150, async (history) => {
        const played = await play(history, waiting);
        expectTruth(history, played, PLAIN);
        expect(played.outcomes).toEqual(history.calls.map(({ isBad }) => (isBad ? BAD : 'done')));
      });
    },
    TIMEOUT_MS,
  );

  it(
    'tells the truth about every call, whatever breaks, with two statements and four that wait',
    async () => {
      const lost = {
        committed: ['done', 'ECONNRESET'],
        absent: ['ECONNRESET', 'ECONNREFUSED', '40P01', LOCK_TIMEOUT],
      };
      await forEach({ bad: true, faults: true, lockTurns: 200 }, 150, async (history) => {
        const played = await play(history, waiting);
        expectTruth(history, played, lost);
        const most = MAX_STATEMENTS + MAX_OWN_STATEMENTS;
        expect(played.database.mostRunning).toBeLessThanOrEqual(most);
        // A call takes part in one statement, the halves of a refused one, and those after a lock or a fault.
        const statements = played.database.statements.length;
        expect(statements).toBeLessThanOrEqual(
          history.calls.length * (2 + Math.log2(MAX_BATCH)) + 10,
        );
      });
    },
    TIMEOUT_MS,
  );

  it(
    'tells only the callers of a locked group about the lock, and others wait for few statements',
    async () => {
      const locked = { committed: ['done'], absent: [LOCK_TIMEOUT] };
      await forEach({ bad: false, faults: false, lockTurns: 200 }, 150, async (history) => {
        const played = await play(history, waiting);
        expectTruth(history, played, locked);
        for (const call of history.calls)
          if (!played.database.isEverLocked(call)) expect(played.outcomes[call.id]).toBe('done');
        // Five statements carry all calls, and after a rollback three other accounts are tried one by one.
        expectNoDelay(history, played, 8);
      });
    },
    TIMEOUT_MS,
  );
});

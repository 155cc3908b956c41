import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { StatementBatcher } from './statement-batcher.js';

interface Call {
  readonly account: string;
  readonly n: number;
}

const refused = (code: string) => Object.assign(new Error('refused'), { code });
const LOCKED = '55P03';
const FULL = 'full';
const MAX_PER_ACCOUNT = 20;

/** Calls that are answered with their number by a database in which some accounts are locked. */
function callsOver(locked: Set<string>) {
  const statements: { accounts: string[]; waits: boolean }[] = [];
  /** Ends the statements that wait for a lock. */
  const waiting: (() => void)[] = [];
  const calls = new StatementBatcher<Call, number>({
    execute: async (batch, waits) => {
      const accounts = [...new Set(batch.map(({ account }) => account))];
      statements.push({ accounts, waits });
      if (waits) await new Promise<void>((resolve) => waiting.push(resolve));
      else await setImmediate();
      if (accounts.some((account) => locked.has(account))) throw refused(LOCKED);
      return batch.map(({ n }) => n);
    },
    groupOf: ({ account }) => account,
    onLocked: 'wait',
    maxBatch: 8,
    maxStatements: 1,
    queue: { total: 100, perGroup: MAX_PER_ACCOUNT, refusal: () => refused(FULL) },
  });
  const run = (account: string, n: number) => calls.run({ account, n });
  return { run, statements, waiting };
}

/** Lets everything happen that needs no lock. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
}

describe('calls in shared statements', () => {
  it('of an account that is locked wait in a statement of their own, and delay no others', async () => {
    const { run, statements, waiting } = callsOver(new Set(['locked']));
    const stuck = [1, 2, 3].map((n) => run('locked', n));
    expect(await Promise.all([run('a', 4), run('b', 5)])).toEqual([4, 5]);
    await settled();
    // Later calls of the account are known to wait, and never go into a shared statement.
    stuck.push(run('locked', 6));
    expect(await run('a', 7)).toBe(7);
    const shared = statements.filter(({ waits }) => !waits);
    expect(shared.filter(({ accounts }) => accounts.includes('locked')).length).toBeLessThan(3);
    expect(waiting).toHaveLength(1);
    waiting.shift()?.();
    for (const call of stuck) await expect(call).rejects.toMatchObject({ code: LOCKED });
  });

  it('of an account with too many in the queue are refused, and those of others are taken', async () => {
    const { run } = callsOver(new Set());
    // The first is in a statement by then.
    const taken = Array.from({ length: MAX_PER_ACCOUNT + 1 }, (_, n) => run('many', n));
    await expect(run('many', 99)).rejects.toMatchObject({ code: FULL });
    expect(await run('few', 5)).toBe(5);
    expect(await Promise.all(taken)).toEqual(taken.map((_, n) => n));
  });

  it('share statements again once the account is free', async () => {
    const locked = new Set(['locked']);
    const { run, statements, waiting } = callsOver(locked);
    const first = run('locked', 1);
    await settled();
    const behind = run('locked', 2);
    await settled();
    expect(statements).toHaveLength(2);
    locked.clear();
    waiting.shift()?.();
    expect(await Promise.all([first, behind])).toEqual([1, 2]);
    expect(statements.at(-1)).toEqual({ accounts: ['locked'], waits: false });
    expect(await Promise.all([run('a', 3), run('locked', 4)])).toEqual([3, 4]);
    expect(waiting).toHaveLength(0);
  });

  it('wait for at most four locked accounts at once, each in its turn', async () => {
    const accounts = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { run, waiting } = callsOver(new Set(accounts));
    const stuck = accounts.map((account, n) => run(account, n).catch(() => account));
    await settled();
    expect(waiting).toHaveLength(4);
    waiting.splice(0).forEach((end) => {
      end();
    });
    await settled();
    expect(waiting).toHaveLength(2);
    waiting.splice(0).forEach((end) => {
      end();
    });
    expect(await Promise.all(stuck)).toEqual(accounts);
  });

  it('fail alone where the database refuses one of an account that was locked', async () => {
    const locked = new Set(['locked']);
    let isFree = false;
    const calls = new StatementBatcher<Call, number>({
      execute: async (batch) => {
        await setImmediate();
        if (!isFree && batch.some(({ account }) => locked.has(account))) throw refused(LOCKED);
        if (batch.some(({ n }) => n < 0)) throw refused('23514');
        return batch.map(({ n }) => n);
      },
      groupOf: ({ account }) => account,
      onLocked: 'wait',
      maxBatch: 8,
      maxStatements: 1,
    });
    const run = (n: number) => calls.run({ account: 'locked', n }).catch(() => 'refused');
    expect(await run(1)).toBe('refused');
    isFree = true;
    expect(await Promise.all([run(2), run(-1), run(3)])).toEqual([2, 'refused', 3]);
  });
});

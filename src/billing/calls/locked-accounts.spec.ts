import { describe, expect, it } from '@jest/globals';
import {
  Contention,
  groupOver,
  itemOf,
  PATIENCE,
  tick,
} from '../../../test/support/number-batcher.js';
import { NotCommitted } from './execution-batcher.js';

type Group = ReturnType<typeof groupOver>['group'];

/** Two callers of another account take turns until `isOver`, so that each shared statement carries an item of theirs. */
async function besideOthers(group: Group, isOver: () => boolean): Promise<void> {
  const caller = async (): Promise<void> => {
    while (!isOver()) await group.submit(itemOf('ba', 0), PATIENCE);
  };
  await Promise.all([caller(), caller()]);
}

describe('the batcher of the ledger with accounts locked by another process', () => {
  it('waits for a locked account in a separate statement and does not delay the others', async () => {
    let unlock = (): void => undefined;
    const locked = new Promise<void>((resolve) => (unlock = resolve));
    const { group } = groupOver(async (items, waits) => {
      await tick();
      if (waits) await locked;
      return items.map(({ accountId, n }) => (accountId === 'a' && !waits ? undefined : n * 2));
    });
    const stuck = [1, 2].map((n) => group.submit(itemOf('a', n), PATIENCE));
    expect(await Promise.all([3, 4].map((n) => group.submit(itemOf('ba', n), PATIENCE)))).toEqual([
      6, 8,
    ]);
    const later = group.submit(itemOf('a', 5), PATIENCE);
    expect(await group.submit(itemOf('ba', 6), PATIENCE)).toBe(12);
    unlock();
    expect(await Promise.all([...stuck, later])).toEqual([2, 4, 10]);
  });

  it('retries items of locked accounts in the next shared statements while other accounts are free', async () => {
    let timesLocked = 0;
    const ofLocked: boolean[] = [];
    const { group } = groupOver(async (items, waits) => {
      await tick();
      const isMet = items.some(({ accountId }) => accountId === 'a');
      if (isMet) ofLocked.push(waits);
      const isLocked = isMet && timesLocked++ < 2;
      return items.map(({ accountId, n }) => (accountId === 'a' && isLocked ? undefined : n * 2));
    });
    const others = besideOthers(group, () => timesLocked > 2);
    expect(await group.submit(itemOf('a', 2), PATIENCE)).toBe(4);
    await others;
    expect(ofLocked).toEqual([false, false, false]);
  });

  it('gives an account its own statement after three shared ones skipped it', async () => {
    const ofLocked: boolean[] = [];
    const { group } = groupOver(async (items, waits) => {
      await tick();
      if (items.some(({ accountId }) => accountId === 'a')) ofLocked.push(waits);
      return items.map(({ accountId, n }) => (accountId === 'a' && !waits ? undefined : n * 2));
    });
    const others = besideOthers(group, () => ofLocked.includes(true));
    expect(await group.submit(itemOf('a', 2), PATIENCE)).toBe(4);
    await others;
    expect(ofLocked).toEqual([false, false, false, true]);
  });

  it('sends at most sixteen separate statements in a row for an account', async () => {
    const waited: boolean[] = [];
    const calls: Promise<number>[] = [];
    const { group } = groupOver(async (items, waits) => {
      waited.push(waits);
      // While a statement is under way, there is always another call.
      if (waited.length < 40) calls.push(group.submit(itemOf('a', waited.length), PATIENCE));
      await tick();
      return items.map(({ n }) => (waits ? n : undefined));
    });
    await group.submit(itemOf('a', 0), PATIENCE);
    for (const call of calls) await call;
    const ownStatements = waited
      .map((waits) => (waits ? 'own' : 'shared'))
      .join(' ')
      .split('shared')
      .map((run) => run.trim().split(' ').filter(Boolean).length);
    expect(Math.max(...ownStatements)).toBe(16);
  });

  it('counts queued starts without those of locked accounts', async () => {
    let unlock: () => void = () => undefined;
    const unlocked = new Promise<void>((resolve) => (unlock = resolve));
    const { group } = groupOver(async (items, waits) => {
      if (waits) await unlocked;
      else await tick();
      return items.map(({ accountId, n }) => (accountId === 'locked' && !waits ? undefined : n));
    });
    const stuck = [group.submit(itemOf('locked', 0), PATIENCE)];
    for (let turn = 0; turn < 5; turn += 1) await tick();
    stuck.push(...[1, 2, 3].map((n) => group.submit(itemOf('locked', n), PATIENCE)));
    expect(group.ready).toMatchObject({ readyCalls: 0, readyGroups: 0 });
    const others = [1, 2, 3].map((n) => group.submit(itemOf(n === 1 ? 'a' : 'b', n), PATIENCE));
    const { readyCalls, readyGroups } = group.ready;
    const ofAccounts = ['a', 'b', 'locked'].map((account) => group.ready.readyCallsOf(account));
    // The first one may be under way.
    expect([
      [0, 2, 0],
      [1, 2, 0],
    ]).toContainEqual(ofAccounts);
    expect(readyCalls).toBe(ofAccounts.reduce((sum, count) => sum + count));
    expect(readyGroups).toBe(ofAccounts.filter((count) => count > 0).length);
    await Promise.all(others);
    unlock();
    expect(await Promise.all(stuck)).toEqual([0, 1, 2, 3]);
    expect(group.ready).toMatchObject({ readyCalls: 0, readyGroups: 0 });
  });

  it('refuses items queued behind the statement of a locked account at their own deadline', async () => {
    let attempts = 0;
    let isLocked = true;
    const { group, clock } = groupOver(async (items, waits) => {
      await tick();
      if (!waits) return items.map(() => undefined);
      attempts += 1;
      if (isLocked) throw new Contention();
      return items.map(({ n }) => n * 2);
    });
    const end = group.submit(itemOf('a', 1), { patienceMs: 8_000, isEnd: true });
    while (attempts === 0) await tick();
    const start = group.submit(itemOf('a', 2), { patienceMs: 2_000, isEnd: false });
    clock.ms = 3_000;
    await expect(start).rejects.toBeInstanceOf(NotCommitted);
    isLocked = false;
    expect(await end).toBe(2);
  });
});

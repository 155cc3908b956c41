import { describe, expect, it } from '@jest/globals';
import { postgresJson } from '../../common/json-object.js';
import { ReportBatcher } from './report-batcher.js';
import type { Advance } from './task-work.repository.js';

const change = (taskId: string, more: Partial<Advance> = {}): Advance => ({
  accountId: 'account',
  taskId,
  fence: '1',
  delayMs: 0,
  ...more,
});
const report = (taskId: string): Advance =>
  change(taskId, { phase: 'polling', lane: 'poll/x', failureCount: 0 });

/** Reports whose statements end when the test says so; lists what each statement carried. */
function laneOver(refuse: (item: Advance) => boolean = () => false) {
  const statements: Advance[][] = [];
  const ends: (() => void)[] = [];
  const reports = new ReportBatcher({
    advance: async (changes) => {
      statements.push([...changes]);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (changes.some(refuse)) throw new Error('unsupported Unicode escape sequence');
      return new Set(changes.map(({ taskId }) => taskId));
    },
  });
  const endOne = async (): Promise<void> => {
    while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
    ends.shift()?.();
  };
  return { reports, statements, endOne };
}

describe('ReportBatcher', () => {
  it('sends a lease renewal and a report of one task in two statements', async () => {
    const { reports, statements, endOne } = laneOver();
    const first = reports.advance(change('other'));
    const lease = reports.advance(change('task'));
    const moved = reports.advance(report('task'));
    for (let count = 0; count < 3; count += 1) await endOne();
    expect(await Promise.all([first, lease, moved])).toEqual([true, true, true]);
    expect(statements.map((items) => items.map(({ phase }) => phase))).toEqual([
      [undefined],
      [undefined],
      ['polling'],
    ]);
  });

  it('renews no lease while the next phase of the work is being written', async () => {
    const { reports, statements, endOne } = laneOver();
    const moved = reports.advance(report('task'));
    expect(await reports.advance(change('task'))).toBe(true);
    await endOne();
    expect(await moved).toBe(true);
    expect(statements).toHaveLength(1);
  });

  it('renews no lease while the completion of the work is being written', async () => {
    const { reports, statements, endOne } = laneOver();
    const lease = () => reports.advance(change('task'));
    expect(await reports.whileMoving(change('task'), lease)).toBe(true);
    expect(statements).toHaveLength(0);
    const renewed = lease();
    await endOne();
    expect(await renewed).toBe(true);
    expect(statements).toHaveLength(1);
  });

  it('renews the lease after a failed try of the completion', async () => {
    const { reports, statements, endOne } = laneOver();
    const tried = reports.whileMoving(change('task'), async () => {
      await reports.advance(change('task'));
      expect(statements).toHaveLength(0);
      throw new Error('the account is locked');
    });
    const outcome = expect(tried).rejects.toThrow('the account is locked');
    await endOne();
    await outcome;
    expect(statements).toHaveLength(1);
  });

  it('fails only the report that the database refuses', async () => {
    const { reports, endOne } = laneOver(({ taskId }) => taskId === 'bad');
    const all = ['first', 'good', 'bad', 'fine'].map((taskId) => reports.advance(report(taskId)));
    const settled = Promise.allSettled(all);
    // One alone, three together, and these in halves.
    for (let count = 0; count < 6; count += 1) await endOne();
    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });
});

describe('postgresJson', () => {
  it('removes characters that PostgreSQL cannot store in text', () => {
    expect(postgresJson({ text: 'a\0b\ud800c', list: ['\udc00'], smile: '😀' })).toBe(
      '{"text":"ab\ufffdc","list":["\ufffd"],"smile":"😀"}',
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OperatorReply, OperatorRequest } from '../operator-request.js';
import { askCells } from './ask-cells.js';
import type { Row } from './cell-rows.js';
import type { AskedCell } from './open-cells.js';

const ASKED: OperatorRequest = { name: 'executions', words: [], options: {}, actor: 'cli:test' };

/** A cell with these rows, newest first, whose cursors are ids as those of the lists. */
function cellOf(name: string, rows: () => readonly Row[]): AskedCell {
  const ask = ({ options }: OperatorRequest): Promise<OperatorReply> => {
    const limit = Number(options.limit ?? 20);
    const behind = rows().filter(
      ({ id }) => options.cursor === undefined || String(id) < options.cursor,
    );
    const data = behind.slice(0, limit);
    const last = data.at(-1)?.id;
    const next_cursor = behind.length > limit ? last : null;
    return Promise.resolve({ answer: { object: 'list', data, has_more: false, next_cursor } });
  };
  return { name, ask };
}

const rowOf = (time: number, cell: string): Row => ({
  id: `exec_${String(time).padStart(6, '0')}${cell}`,
  created_at: Math.floor(time / 3),
});
const answerIn = (reply: OperatorReply) => (reply as { answer: Record<string, unknown> }).answer;

describe('a list of several cells', () => {
  const times = fc.uniqueArray(fc.nat({ max: 500 }), { maxLength: 60 });

  it('gives each row once, newest first, whatever the pages are and while newer rows come', async () => {
    const property = fc.asyncProperty(
      times,
      times,
      fc.integer({ min: 1, max: 9 }),
      async (one, other, limit) => {
        const lists = [one, other].map((cell, index) =>
          cell
            .map((time) => rowOf(time, 'ab'.charAt(index)))
            .sort((x, y) => (String(x.id) < String(y.id) ? 1 : -1)),
        );
        const cells = lists.map((_, index) => cellOf(`cell ${index}`, () => lists[index] ?? []));
        const before = lists.flat();
        const seen: Row[] = [];
        let cursor: string | undefined;
        for (let page = 0; ; page += 1) {
          const options = { limit: String(limit), ...(cursor !== undefined && { cursor }) };
          const answer = answerIn(await askCells(cells, { ...ASKED, options }));
          seen.push(...(answer.data as Row[]));
          if (answer.next_cursor === null) break;
          cursor = answer.next_cursor as string;
          for (const [index, list] of lists.entries())
            list.unshift(rowOf(1_000 + page, 'ab'.charAt(index)));
        }
        const ids = seen.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(new Set(ids)).toEqual(new Set(before.map(({ id }) => id)));
        const at = seen.map(({ created_at }) => Number(created_at));
        expect(at).toEqual([...at].sort((x, y) => y - x));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it('gives all rows at once with --all', async () => {
    const rows = Array.from({ length: 250 }, (_, time) => rowOf(250 - time, 'a'));
    const cells = [cellOf('a', () => rows), cellOf('b', () => [rowOf(100, 'b')])];
    const answer = answerIn(await askCells(cells, { ...ASKED, options: { all: true } }));
    expect([(answer.data as Row[]).length, answer.next_cursor]).toEqual([251, null]);
  });

  it('refuses a cursor of anything else, and one of fewer cells', async () => {
    const cells = ['a', 'b'].map((name) => cellOf(name, () => [rowOf(1, name), rowOf(0, name)]));
    const one = answerIn(await askCells(cells.slice(1), { ...ASKED, options: { limit: '1' } }));
    for (const cursor of ['x', '0'.repeat(32), String(one.next_cursor)]) {
      const reply = await askCells(cells, { ...ASKED, options: { cursor } });
      expect(reply).toEqual({ error: '--cursor is not one that a list of these cells gave.' });
    }
  });

  it('fails where one cell does not answer, and names it', async () => {
    const silent: AskedCell = {
      name: 'db7:5432/shim',
      ask: () => Promise.resolve({ error: 'It is away.' }),
    };
    const cells = [cellOf('db1:5432/shim', () => []), silent];
    expect(await askCells(cells, ASKED)).toEqual({ error: 'db7:5432/shim: It is away.' });
  });
});

describe('usage of several cells', () => {
  const GROUP = {
    object: 'usage',
    day: '2026-11-25',
    model: 'gen-5',
    calls: 3,
    quantity: 10,
    unit: 'token',
    charged_microusd: '9007199254740993',
    charged_usd: '9007199254.740993',
    latency_p50_ms: 12,
  };
  const usageOf = async (...groups: readonly Row[][]) => {
    const cells = groups.map((data, index) => ({
      name: `cell ${index}`,
      ask: () =>
        Promise.resolve({ answer: { object: 'list', data, has_more: false, next_cursor: null } }),
    }));
    return answerIn(await askCells(cells, { ...ASKED, name: 'usage' })).data;
  };

  it('adds up each group exactly, newest day first, and knows no percentile of it', async () => {
    const later = { ...GROUP, day: '2026-11-26' };
    expect(await usageOf([GROUP], [later, GROUP])).toEqual([
      later,
      {
        ...GROUP,
        calls: 6,
        quantity: 20,
        charged_microusd: '18014398509481986',
        charged_usd: '18014398509.481986',
        latency_p50_ms: null,
      },
    ]);
  });

  it('adds up costs as far as they are known, and then knows no margin', async () => {
    const known = { ...GROUP, cost_microusd: '5', margin_microusd: '6' };
    const unknown = { ...GROUP, cost_microusd: null, margin_microusd: null };
    const sum = { cost_microusd: '5', margin_microusd: null };
    expect(await usageOf([known], [unknown])).toMatchObject([sum]);
    expect(await usageOf([unknown], [known])).toMatchObject([sum]);
  });

  it('has no quantity where the units differ, and that of the other where one has none', async () => {
    const seconds = { ...GROUP, unit: 'second' };
    const none = { ...GROUP, unit: null, quantity: 0 };
    expect(await usageOf([GROUP], [seconds])).toMatchObject([{ unit: null, quantity: null }]);
    expect(await usageOf([none], [GROUP])).toMatchObject([{ unit: 'token', quantity: 10 }]);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { BatchedFunction } from './batched-function.js';

const TERMS = {
  name: 'answer',
  types: ['text', 'text'],
  answers: ['said'],
  maxBatch: 64,
  lanes: 1,
} as const;
type Columns = readonly (readonly string[])[];

/** A database that answers each call with its second value, and refuses statements. */
function batchedOver(refusalOf: (columns: Columns) => string | undefined) {
  const statements: Columns[] = [];
  const query = ({ values }: { values: Columns }) => {
    statements.push(values);
    const code = refusalOf(values);
    return code === undefined
      ? Promise.resolve({ rows: values[1]?.map((said) => ({ said })) })
      : Promise.reject(Object.assign(new Error('refused'), { code }));
  };
  const dataSource = { driver: { master: { query } } } as unknown as DataSource;
  return { batched: new BatchedFunction<{ said: string }>(dataSource, TERMS), statements };
}

const outcomesOf = async (runs: readonly Promise<{ said: string }>[]) =>
  (await Promise.allSettled(runs)).map((run) =>
    run.status === 'fulfilled' ? run.value.said : 'refused',
  );

describe('calls of a function that share a statement', () => {
  it('of an account that is locked fail after two statements, and those of others go on', async () => {
    const { batched, statements } = batchedOver(([accounts]) =>
      accounts?.includes('locked') === true ? '55P03' : undefined,
    );
    const first = batched.run(['free', 'alone']);
    const locked = Array.from({ length: 24 }, (_, index) => batched.run(['locked', `${index}`]));
    const other = batched.run(['free', 'other']);
    expect(await outcomesOf([first, other, ...locked])).toEqual([
      'alone',
      'other',
      ...locked.map(() => 'refused'),
    ]);
    expect(statements.map(([accounts]) => accounts?.length)).toEqual([1, 25, 1, 24]);
  });

  it('fail alone where the database refuses one', async () => {
    const { batched } = batchedOver(([, said]) =>
      said?.includes('bad') === true ? '23514' : undefined,
    );
    const runs = ['first', 'good', 'bad', 'fine'].map((said) => batched.run(['account', said]));
    expect(await outcomesOf(runs)).toEqual(['first', 'good', 'refused', 'fine']);
  });
});

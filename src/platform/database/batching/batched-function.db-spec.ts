import { describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase } from '../../../../test/support/test-database.js';
import { BatchedFunction } from './batched-function.js';

const TERMS = {
  name: 'answer',
  types: ['text', 'text'],
  answers: ['said'],
  maxBatch: 64,
  maxStatements: 1,
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
    expect(statements.map(([accounts]) => accounts?.length)).toEqual([1, 25, 24, 1]);
  });

  it('fail alone where the database refuses one', async () => {
    const { batched } = batchedOver(([, said]) =>
      said?.includes('bad') === true ? '23514' : undefined,
    );
    const runs = ['first', 'good', 'bad', 'fine'].map((said) => batched.run(['account', said]));
    expect(await outcomesOf(runs)).toEqual(['first', 'good', 'refused', 'fine']);
  });

  it('wait for a lock briefly in a shared statement, long by themselves, and change nothing for later statements', async () => {
    const database = await createTestDatabase();
    const { dataSource } = database;
    await dataSource.query(
      `CREATE FUNCTION answer(account text, INOUT said text) LANGUAGE plpgsql AS $$ BEGIN
         said := current_setting('lock_timeout');
         IF said = '500ms' AND account = 'locked' THEN RAISE lock_not_available; END IF;
       END $$`,
    );
    const batched = new BatchedFunction<{ said: string }>(dataSource, TERMS);
    expect(await batched.run(['free', ''])).toEqual({ said: '500ms' });
    expect(await batched.run(['locked', ''])).toEqual({ said: '2s' });
    expect(await dataSource.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '2s' }]);
    await database.drop();
  });
});

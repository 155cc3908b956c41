import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { arrayLiteral, plainArray } from './array-literal.js';

const HARD = [
  '',
  ' ',
  'null',
  'NULL',
  'Null',
  'a,b',
  '{}',
  '"',
  '\\',
  'a\\"b',
  "'",
  'é 长',
  '\n\t',
  '-1.5e+3',
  'a:b/c',
];

describe('an array as text', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  const readBack = async (literal: string, type: string) => {
    const [row] = await db.dataSource.query<[{ values: unknown[] }]>(
      `SELECT $1::${type}[] AS values`,
      [literal],
    );
    return row.values;
  };

  it('is read by the server as the texts that it was made of', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HARD), fc.uuid());
    const storable = text.map((value) => value.replaceAll('\0', ''));
    const list = fc.array(fc.option(storable), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(list, async (values) => {
        expect(await readBack(arrayLiteral(values), 'text')).toEqual(values);
      }),
      { numRuns: 200 },
    );
  });

  it('holds numbers, booleans, ids and JSON', async () => {
    expect(await readBack(arrayLiteral([1, null, -3]), 'int')).toEqual([1, null, -3]);
    expect(await readBack(arrayLiteral([true, undefined, false]), 'boolean')).toEqual([
      true,
      null,
      false,
    ]);
    const json = JSON.stringify({ a: ['"', '\\', null], b: 'x,y' });
    expect(await readBack(arrayLiteral([json]), 'jsonb')).toEqual([JSON.parse(json)]);
  });

  it('is read here as by the driver, or left to it', async () => {
    const word = fc.oneof(fc.constantFrom('held', 'done', ...HARD), fc.uuid());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(word), { maxLength: 10 }), async (values) => {
        const [row] = await db.dataSource.query<[{ text: string; values: unknown[] }]>(
          'SELECT $1::text[]::text AS text, $1::text[] AS values',
          [arrayLiteral(values)],
        );
        expect(plainArray(row.text) ?? row.values).toEqual(row.values);
      }),
      { numRuns: 200 },
    );
    expect(plainArray('[2:3]={a,b}')).toBeUndefined();
    expect(plainArray('{{a},{b}}')).toBeUndefined();
    expect(plainArray('{"a b"}')).toBeUndefined();
  });
});

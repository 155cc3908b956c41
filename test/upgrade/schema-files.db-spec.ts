import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source.js';
import { createSchema } from '../../src/database/schema-files.js';
import { dumpSchema } from '../support/schema-dump.js';
import {
  createEmptyDatabase,
  createTestDatabase,
  type EmptyDatabase,
  type TestDatabase,
} from '../support/test-database.js';

/** Functions that no code of version 0.1.0 calls, and the tables of how each schema came to be. */
const DIFFERENT =
  /^CREATE (?:FUNCTION (?:execution_(?:refund|step|step_capped|sweep)|task_(?:claim|claim_whole|refund))\(|FUNCTION task_submit(?:_capped)?\([^)]*p_amount bigint, p_webhook_url|FUNCTION webhook_claim\(p_now|FUNCTION webhook_record\([^)]*p_due|TABLE (?:migration|schema_file) |SEQUENCE migration_id_seq )/;
/** Tables of one row. */
const STATES = ['audit_state', 'call_look', 'record_retention', 'usage_state'];

describe('the schema files', () => {
  let former: TestDatabase;
  let empty: EmptyDatabase;
  let made: DataSource;

  beforeAll(async () => {
    former = await createTestDatabase();
    empty = await createEmptyDatabase();
    made = await createDataSource({ url: empty.url, poolSize: 2 }).initialize();
    await made.transaction(({ queryRunner }) => {
      if (queryRunner === undefined) throw new Error('A transaction has a runner');
      return createSchema(queryRunner);
    });
  });
  afterAll(async () => {
    await made.destroy();
    await empty.drop();
    await former.drop();
  });

  it('make the catalogs that the migrations make, but for functions that nobody calls', async () => {
    const blocksOf = async (dataSource: DataSource) =>
      (await dumpSchema(dataSource, { comments: false }))
        .split('\n\n')
        .filter((block) => !DIFFERENT.test(block));
    expect(await blocksOf(made)).toEqual(await blocksOf(former.dataSource));
  });

  it.each(STATES)('make the one row of %s', async (table) => {
    const count = `SELECT count(*)::int AS rows FROM ${table}`;
    expect(await made.query(count)).toEqual([{ rows: 1 }]);
    expect(await former.dataSource.query(count)).toEqual([{ rows: 1 }]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dumpSchema } from '../../../test/support/schema-dump.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SCHEMA_FILES } from './schema-files.js';

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

describe('the schema of a new database', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('equals schema.sql; npm run schema rewrites it', async () => {
    expect((await dumpSchema(database.dataSource)).split('\n')).toEqual(SCHEMA.split('\n'));
  });

  it('is made by every file of the folder, in the order of their names', () => {
    const found = readdirSync(new URL('./schema/', import.meta.url)).sort();
    expect(found).toEqual([...SCHEMA_FILES, '99-grants.sql', '99-reader.sql']);
  });

  it('has functions that PostgreSQL can read', async () => {
    const bodies = `
      SELECT CASE l.lanname WHEN 'sql' THEN fmgr_sql_validator(p.oid) ELSE plpgsql_validator(p.oid) END
        FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = 'public'::regnamespace`;
    await expect(database.dataSource.query(bodies)).resolves.not.toEqual([]);
  });

  it('plans its functions without JIT, whatever a session says', async () => {
    // Functions of triggers run inside of others; so do those that are written in SQL.
    const planned = `
      SELECT p.oid::regprocedure::text AS name FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
       WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'plpgsql' AND p.prorettype <> 'trigger'::regtype
         AND NOT coalesce(p.proconfig, '{}') @> '{jit=off}'`;
    expect(await database.dataSource.query(planned)).toEqual([]);
  });

  it('says what each table is for', async () => {
    const silent = `
      SELECT c.relname FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') AND c.relname <> 'migration'
         AND obj_description(c.oid, 'pg_class') IS NULL`;
    expect(await database.dataSource.query(silent)).toEqual([]);
  });
});

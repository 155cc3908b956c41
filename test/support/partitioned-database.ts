import type { QueryRunner } from 'typeorm';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { createSchema } from '../../src/platform/database/schema-files.js';
import { createEmptyDatabase, type TestDatabase } from './test-database.js';

const PARTS = 8;
const POOL_SIZE = 8;
/** The tables of which every row belongs to an account, and the column that names it. */
const KEYS: Readonly<Record<string, string>> = {
  account: 'id',
  execution: 'account_id',
  idempotency_key: 'account_id',
  kept_song_step: 'account_id',
  key_spend: 'account_id',
  key_spend_carried: 'account_id',
  ledger_entry: 'account_id',
  run: 'account_id',
  task: 'account_id',
  webhook_attempt: 'account_id',
  webhook_delivery: 'account_id',
};
const TABLE = new RegExp(
  `^CREATE TABLE (${Object.keys(KEYS).join('|')}) (\\([^;]*?\\n\\))( WITH \\([^;]*\\))?;`,
  'gm',
);

/** A database with the schema of today, of which these tables are partitioned by the hash of their account into 8 parts. */
export async function createPartitionedDatabase(): Promise<TestDatabase> {
  const empty = await createEmptyDatabase();
  const { url } = empty;
  const dataSource = await createDataSource({ url, poolSize: POOL_SIZE }).initialize();
  const partitioned = new Set<string>();
  const own = dataSource.createQueryRunner();
  const runner = {
    query: (sql: string, parameters?: unknown[]): Promise<unknown> => {
      const changed = sql.replaceAll(TABLE, (_, table: string, columns: string, terms = '') => {
        partitioned.add(table);
        return partsOf(table, columns, String(terms));
      });
      return own.query(changed, parameters);
    },
  };
  await own.startTransaction();
  await createSchema(runner as QueryRunner);
  await own.commitTransaction();
  await own.release();
  const missing = Object.keys(KEYS).filter((table) => !partitioned.has(table));
  if (missing.length > 0) throw new Error(`No table is ${missing.join(', ')}`);
  return {
    url,
    dataSource,
    async drop() {
      await dataSource.destroy();
      await empty.drop();
    },
  };
}

function partsOf(table: string, columns: string, terms: string): string {
  const part = (remainder: number) =>
    `CREATE TABLE ${table}_${remainder} PARTITION OF ${table} FOR VALUES WITH (MODULUS ${PARTS}, REMAINDER ${remainder})${terms};`;
  return [
    `CREATE TABLE ${table} ${columns} PARTITION BY HASH (${KEYS[table] ?? ''});`,
    ...Array.from({ length: PARTS }, (_, remainder) => part(remainder)),
  ].join('\n');
}

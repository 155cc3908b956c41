import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { runMigrations } from '../../src/platform/database/run-migrations.js';
import {
  SchemaTooNewError,
  SchemaTooOldError,
} from '../../src/platform/database/schema-version.js';
import { dumpSchema } from '../support/schema-dump.js';
import { createEmptyDatabase, type EmptyDatabase } from '../support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../support/test-ledger.js';

const SCHEMA = readFileSync(
  new URL('../../src/platform/database/schema.sql', import.meta.url),
  'utf8',
);
/**
 * A database that version 0.1.0 made, with the work of two accounts: paid and failed calls and tasks, an open task of
 * a process that was killed, a task of unknown outcome, webhooks, refunds, a key with a limit that was rotated.
 * `pg_dump --rows-per-insert=100 --no-owner` wrote it.
 */
const FORMER = gunzipSync(readFileSync(new URL('./0.1.0.sql.gz', import.meta.url))).toString();

const TABLES = `
  SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('migration', 'schema_file')
   GROUP BY 1 ORDER BY 1`;

interface Table {
  readonly name: string;
  readonly columns: string;
}

describe('a database of version 0.1.0', () => {
  let database: EmptyDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    // Not the pool: the dump sets its session.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(FORMER).finally(() => client.end());
    dataSource = await createDataSource({ url: database.url, poolSize: 4 }).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const tablesOf = (): Promise<readonly Table[]> => dataSource.query<Table[]>(TABLES);
  /** Every row of the tables, with these columns only. */
  const rowsOf = async (tables: readonly Table[]): Promise<Record<string, unknown>> => {
    const contents = await Promise.all(
      tables.map(async ({ name, columns }) => {
        const rows = await dataSource.query<unknown[]>(
          `SELECT to_jsonb(t) AS row FROM (SELECT ${columns} FROM ${name}) t ORDER BY to_jsonb(t)::text`,
        );
        return [name, rows] as const;
      }),
    );
    return Object.fromEntries(contents);
  };

  it('gets the schema of a new one and keeps every row', async () => {
    const tables = await tablesOf();
    const before = await rowsOf(tables);
    expect((before.ledger_entry as unknown[]).length).toBeGreaterThan(10);
    const applied = await runMigrations(dataSource);
    expect(applied).toContain('Baseline1700000001000');
    expect(applied).toContain('TaskEndpoint1700000001001');
    expect((await dumpSchema(dataSource)).split('\n')).toEqual(SCHEMA.split('\n'));
    expect(await rowsOf(tables)).toEqual(before);
    expect(await runMigrations(dataSource)).toEqual([]);
  });

  it('then has exact books, and works', async () => {
    await runMigrations(dataSource);
    expect(await auditBooks(dataSource, 'full')).toMatchObject({ ok: true, discrepancies: [] });
    const { executions, process } = ledgerOf(dataSource);
    await process.heartbeat();
    const start = startOf(await fundedAccount(dataSource, 1_000n), 100n);
    expect(await executions.begin(start)).toMatchObject({ outcome: 'held' });
    await executions.succeed(start, successOf(60n));
    expect(await auditBooks(dataSource, 'full')).toMatchObject({ ok: true });
  });

  it('is refused, unchanged, if it is not yet at the last migration of that version', async () => {
    await dataSource.query(
      'DELETE FROM migration WHERE timestamp = (SELECT max(timestamp) FROM migration)',
    );
    const before = await dumpSchema(dataSource);
    const trying = runMigrations(dataSource);
    await expect(trying).rejects.toThrow(SchemaTooOldError);
    await expect(trying).rejects.toThrow(
      'Start version 0.1.0 once on it, then this version; restore an older backup with version 0.1.0.',
    );
    expect(await dumpSchema(dataSource)).toBe(before);
  });

  it('is refused if a version between has migrated it', async () => {
    await dataSource.query(
      `INSERT INTO migration (timestamp, name) VALUES (1700000000500, 'Between1700000000500')`,
    );
    await expect(runMigrations(dataSource)).rejects.toThrow(SchemaTooNewError);
  });
});

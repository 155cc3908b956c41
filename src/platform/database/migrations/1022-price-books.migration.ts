import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Accounts may have prices of their own. Processes of version 0.1.0 know no book: they sell at the prices of the list. */
export class PriceBooks1700000001022 implements SchemaMigration {
  readonly name = 'PriceBooks1700000001022';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE account ADD COLUMN price_book text');
    await runner.query(`
      CREATE TABLE price_book (
        id text PRIMARY KEY,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query(`
      CREATE TABLE price_book_version (
        book_id text NOT NULL,
        version integer NOT NULL,
        factor_permille integer NOT NULL CHECK (factor_permille BETWEEN 1 AND 10000),
        models jsonb NOT NULL,
        valid_from timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (book_id, version)
      )`);
    await runner.query('CREATE TABLE price_book_revision (revision bigint NOT NULL)');
    await runner.query('INSERT INTO price_book_revision VALUES (0)');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Accounts have prices by it: restore a backup'));
  }
}

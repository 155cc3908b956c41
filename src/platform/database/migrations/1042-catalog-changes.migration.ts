import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** What models cost is recorded, from the next start on. */
export class CatalogChanges1700000001042 implements SchemaMigration {
  readonly name = 'CatalogChanges1700000001042';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE catalog_change');
  }
}

const TABLE = `
  CREATE TABLE catalog_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model text NOT NULL,
    price jsonb,
    file text,
    changed_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX catalog_change_of_model ON catalog_change (model, id)`;

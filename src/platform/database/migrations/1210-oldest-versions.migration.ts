import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** The database keeps which former version may run on the schema after each migration. */
export class OldestVersions1700000001210 implements SchemaMigration {
  readonly name = 'OldestVersions1700000001210';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE schema_migration (name text PRIMARY KEY, oldest_version text NOT NULL)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE schema_migration');
  }
}

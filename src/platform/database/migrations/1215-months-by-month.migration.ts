import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** The last months of all accounts are read by an index: an overview finds the accounts that run dry by them. */
export class MonthsByMonth1700000001215 implements SchemaMigration {
  readonly name = 'MonthsByMonth1700000001215';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX usage_month_by_month ON usage_month (month)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX usage_month_by_month');
  }
}

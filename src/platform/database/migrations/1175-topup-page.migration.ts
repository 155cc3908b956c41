import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Where accounts get more money is kept, so that events and refusals name it. */
export class TopUpPage1700000001175 implements SchemaMigration {
  readonly name = 'TopUpPage1700000001175';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE TABLE topup_page (is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), url text)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE topup_page');
  }
}

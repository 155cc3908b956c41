import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Calls and tasks name the price book that they were priced by. Those of before have the prices of the list. */
export class PricedByBook1700000001044 implements SchemaMigration {
  readonly name = 'PricedByBook1700000001044';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE execution ADD COLUMN price_book jsonb');
    await runner.query('ALTER TABLE task ADD COLUMN price_book jsonb');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Charges follow from the column: restore a backup'));
  }
}

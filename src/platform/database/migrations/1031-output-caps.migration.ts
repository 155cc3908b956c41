import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** A call records the output cap that the gateway chose. Processes of version 0.1.0 leave the columns empty. */
export class OutputCaps1700000001031 implements SchemaMigration {
  readonly name = 'OutputCaps1700000001031';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE execution ADD COLUMN output_cap_reason text, ADD COLUMN output_cap integer',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE execution DROP COLUMN output_cap_reason, DROP COLUMN output_cap',
    );
  }
}

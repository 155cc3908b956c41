import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** Each process says its version with its lease. Version 0.1.0 says none: it calls the former function, which stays. */
export class VersionsOfProcesses1700000001230 implements SchemaMigration {
  readonly name = 'VersionsOfProcesses1700000001230';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_process ADD COLUMN version text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_process DROP COLUMN version');
  }
}

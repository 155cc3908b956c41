import type { QueryRunner } from 'typeorm';
import type { SchemaMigration } from '../schema-migration.js';

/** A task that a process of the gateway runs may be cancelled meanwhile. Version 0.1.0 has no such task. */
export class CancelledWhileRunning1700000001070 implements SchemaMigration {
  readonly name = 'CancelledWhileRunning1700000001070';
  readonly oldestVersion = '0.1.0';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN cancel_asked_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task DROP COLUMN cancel_asked_at');
  }
}

import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A task that a process of the gateway runs may be cancelled meanwhile. Version 0.1.0 has no such task. */
export class CancelledWhileRunning1700000001070 implements MigrationInterface {
  readonly name = 'CancelledWhileRunning1700000001070';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN cancel_asked_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task DROP COLUMN cancel_asked_at');
  }
}

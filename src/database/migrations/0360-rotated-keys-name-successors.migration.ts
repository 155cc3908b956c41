import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The successor of a rotated key, so that a key in its overlap is not rotated again. */
export class RotatedKeysNameSuccessors1700000000360 implements MigrationInterface {
  readonly name = 'RotatedKeysNameSuccessors1700000000360';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_key ADD COLUMN successor_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_key DROP COLUMN successor_id');
  }
}
